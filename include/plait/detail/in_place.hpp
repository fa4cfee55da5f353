// The operators that write to their left operand, each with the function that it applies: what a
// class gives for one of them, it gives for all.
#pragma once

#define PLAIT_IN_PLACE_OPERATORS(X) \
  X(+=, Add)                        \
  X(-=, Subtract)                   \
  X(*=, Multiply)                   \
  X(/=, Divide)                     \
  X(%=, Remainder)                  \
  X(&=, BitwiseAnd)                 \
  X(|=, BitwiseOr)                  \
  X(^=, BitwiseXor)                 \
  X(<<=, LeftShift)                 \
  X(>>=, RightShift)

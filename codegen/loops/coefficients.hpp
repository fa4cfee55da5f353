// Coefficients of the vector math: near-minimax fits (Chebyshev, 70 digits) and constants split
// into parts of the precision that their use needs.
#pragma once

namespace plait::loops::coefficients {

// (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2; error 1.4e-18.
inline constexpr double kExpTail[] = {
    0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,  0x1.11111111100dap-7,
    0x1.6c16c16c162d3p-10, 0x1.a01a01abe89c3p-13, 0x1.a01a01a6d90d5p-16, 0x1.71de022fa086fp-19,
    0x1.27e4db62de4afp-22, 0x1.af4ded9048fa2p-26, 0x1.1f730669b951fp-29};
// (sin(r) / r - 1) / z, z = r^2, |r| <= pi / 4; error 1.16e-20.
inline constexpr double kSinTail[] = {
    -0x1.5555555555555p-3,  0x1.1111111111110p-7,  -0x1.a01a01a019936p-13, 0x1.71de3a5460533p-19,
    -0x1.ae64541251e39p-26, 0x1.61217eaffbfdbp-33, -0x1.ab179e14267cdp-41};
// (cos(r) - 1 + z / 2) / z^2; error 6.45e-22.
inline constexpr double kCosTail[] = {
    0x1.5555555555555p-5,  -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d09p-16, -0x1.27e4fb7712b8cp-22,
    0x1.1eed8deb644b7p-29, -0x1.9394b9bb6e16dp-37, 0x1.ab782b04de8dep-45};
// (atan(q) / q - 1) / z, z = q^2, |q| <= 7 / 16; error 1.6e-19.
inline constexpr double kAtanTail[] = {
    -0x1.5555555555555p-2, 0x1.999999999998fp-3, -0x1.24924924918dap-3, 0x1.c71c71c6734d0p-4,
    -0x1.745d171e17004p-4, 0x1.3b13aba9355c0p-4, -0x1.1110904178f8fp-4, 0x1.e1d233ed77442p-5,
    -0x1.ae7fd9a52a075p-5, 0x1.812bcfc86b90cp-5, -0x1.4abbfdd2be694p-5, 0x1.ddd7373373f00p-6,
    -0x1.99ef465843f9bp-7};
inline constexpr double kLn2[] = {0x1.62e42fefa4000p-1, -0x1.8432a1b0e2634p-43};
inline constexpr double kLn2Full[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr double kLog2E[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
inline constexpr double kLog10E[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
inline constexpr double kLog10Of2[] = {0x1.34413509f8000p-2, -0x1.80433b83b532ap-44};
inline constexpr double kHalfPi[] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34,
                                     0x1.3198a2e000000p-69, 0x1.b839a252049c1p-104};
inline constexpr double kHalfPiFull[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
inline constexpr double kAtanHalf[] = {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56};
inline constexpr double kAtanOne[] = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
inline constexpr double kAtanOneHalf[] = {0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56};
// (exp(r) - 1 - r) / r^2 for float32; error 1.4e-9.
inline constexpr float kExpTailFloat[] = {0x1.0000000b95dffp-1f,  0x1.5555555a7b329p-3f,
                                          0x1.5554e8e8cb16bp-5f,  0x1.1110e0e4a8facp-7f,
                                          0x1.6d434d38b4fd9p-10f, 0x1.a12516e5ebf78p-13f};
// (log(1 + f) - f) / f^2, 1 + f in [sqrt(1/2), sqrt(2)], for float32; error 2^-27.
inline constexpr float kLogTailFloat[] = {
    -0x1p-1f,       0x1.55554ep-2f,  -0x1.000008p-2f, 0x1.99a130p-3f,  -0x1.5559e6p-3f,
    0x1.237a56p-3f, -0x1.fcc1aep-4f, 0x1.e3d33ap-4f,  -0x1.d962f2p-4f, 0x1.15425cp-4f};
inline constexpr float kLn2Log[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
inline constexpr float kLn2Float[] = {0x1.62e8000000000p-1f, -0x1.e8082e3086543p-16f};

}  // namespace plait::loops::coefficients

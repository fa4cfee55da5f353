// Tables of sixteen float64, two registers of AVX-512, with the polynomials that go with them:
// logarithms and exponentials of what is left over are short. Fits at Chebyshev nodes, 70 digits.
#pragma once
#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {

// Of the middle of each sixteenth of the mantissas in [0.703125, 1.40625), exactly 1 around 1.
alignas(64) inline constexpr double kInverse[16] = {
    0x1.642c8590b2164p+0, 0x1.5555555555555p+0, 0x1.47ae147ae147bp+0, 0x1.3b13b13b13b14p+0,
    0x1.2f684bda12f68p+0, 0x1.2492492492492p+0, 0x1.1a7b9611a7b96p+0, 0x1.1111111111111p+0,
    0x1.0842108421084p+0, 0x1.0000000000000p+0, 0x1.e1e1e1e1e1e1ep-1, 0x1.c71c71c71c71cp-1,
    0x1.af286bca1af28p-1, 0x1.999999999999ap-1, 0x1.8618618618618p-1, 0x1.745d1745d1746p-1};
// Minus their logarithms, in two parts; the first is a multiple of 2^-41, so that its sum with
// k kLn2[0] is exact.
alignas(64) inline constexpr double kLogTable[16] = {-0x1.522ae0738a000p-2, -0x1.269621134e000p-2,
                                                     -0x1.f991c6cb3c000p-3, -0x1.a93ed3c8ac000p-3,
                                                     -0x1.5bf406b544000p-3, -0x1.1178e82280000p-3,
                                                     -0x1.9335e5d598000p-4, -0x1.08598b59e0000p-4,
                                                     -0x1.0415d89e70000p-5, 0x0.0p+0,
                                                     0x1.f0a30c0110000p-5,  0x1.e27076e2b0000p-4,
                                                     0x1.5ff3070a78000p-3,  0x1.c8ff7c79a8000p-3,
                                                     0x1.1675cababa000p-2,  0x1.4618bc21c6000p-2};
alignas(64) inline constexpr double kLogTableLow[16] = {
    -0x1.eba708164c759p-45, 0x1.1ba1f10522625p-44,
    0x1.90b84cd7cc834p-44,  -0x1.9e56f2bea77a6p-43,
    0x1.28023eb68981cp-46,  0x1.b8621cc74be04p-43,
    0x1.b3c28f150ae0ap-43,  -0x1.d02c451fecdfbp-43,
    -0x1.1101c05cf1d75p-43, 0x0.0p+0,
    0x1.8aa185f325c5cp-43,  -0x1.a2c2c2af0003cp-45,
    0x1.3d5c873e20a07p-43,  0x1.a1fac25d81ef3p-43,
    0x1.83c0e731f55c4p-44,  -0x1.3e02f484c84ccp-46};
// The same to base 2,
alignas(64) inline constexpr double kLog2Table[16] = {-0x1.e7df5fe538000p-2, -0x1.a8ff971810000p-2,
                                                      -0x1.6cb0f6865c000p-2, -0x1.32bfee370e000p-2,
                                                      -0x1.f5fd8a9064000p-3, -0x1.8a8980abfc000p-3,
                                                      -0x1.22dadc2ab4000p-3, -0x1.7d60496cf8000p-4,
                                                      -0x1.77394c9d90000p-5, 0x0.0p+0,
                                                      0x1.663f6fac90000p-4,  0x1.5c01a39fbc000p-3,
                                                      0x1.fbc16b9028000p-3,  0x1.49a784bcd2000p-2,
                                                      0x1.91bba891f2000p-2,  0x1.d6753e032e000p-2};
alignas(64) inline constexpr double kLog2TableLow[16] = {
    -0x1.5652ca22c62dap-43, -0x1.4b94d870dd18bp-43,
    -0x1.1d51bdaa8e20dp-43, -0x1.cd3aded7f972dp-43,
    0x1.ce5218fd407f7p-47,  0x1.683e1f2893a13p-46,
    0x1.6d3cbb0006c6ap-44,  -0x1.da57af3675fa0p-43,
    -0x1.633e624fa8d87p-43, 0x0.0p+0,
    0x1.317ee20c9d519p-44,  0x1.68a8248f7b77ap-43,
    -0x1.7f2f9ae39c1e8p-43, -0x1.1d9cc2d296ee4p-44,
    -0x1.1ebb3f1a94fb9p-43, 0x1.41c8b2905e068p-43};
// and to base 10.
alignas(64) inline constexpr double kLog10Table[16] = {-0x1.25ba8215b0000p-3, -0x1.ffbfc2bbc8000p-4,
                                                       -0x1.b721cd1714000p-4, -0x1.715d0ce368000p-4,
                                                       -0x1.2e3a740b78000p-4, -0x1.db11ed7668000p-5,
                                                       -0x1.5e3966b7e8000p-5, -0x1.cb38fccd90000p-6,
                                                       -0x1.c3d0837780000p-7, 0x0.0p+0,
                                                       0x1.af5f92b010000p-6,  0x1.a30a9d60a0000p-5,
                                                       0x1.31b3055c48000p-4,  0x1.8cf1838864000p-4,
                                                       0x1.e3bc1ab0e0000p-4,  0x1.1b3e71ec94000p-3};
alignas(64) inline constexpr double kLog10TableLow[16] = {
    0x1.0089d896499b2p-44,  0x1.ff91cd0d41d8bp-46,
    -0x1.7e33cbb4338c4p-44, 0x1.40a56a54960abp-46,
    -0x1.9af15fdc3bc70p-53, -0x1.5f85cb66cbb6cp-44,
    -0x1.2943d5df48680p-45, 0x1.00994d322030ep-44,
    -0x1.30e6a783022c9p-45, 0x0.0p+0,
    -0x1.9ee9c6a443feap-46, -0x1.012c40f052da5p-45,
    -0x1.dcc83285be7bfp-45, 0x1.015bce2014e1fp-45,
    0x1.9fffa0ddba65fp-44,  0x1.ef4991a8da00bp-44};
// (log(1 + r) - r) / r^2; error 2^-61.6.
inline constexpr double kLog1pTail[] = {
    -0x1.0000000000000p-1, 0x1.555555555552ep-2,  -0x1.0000000000630p-2,
    0x1.9999999ab2e78p-3,  -0x1.555555422203cp-3, 0x1.2492383193b95p-3,
    -0x1.00009138d8439p-3, 0x1.c7dec4edf992ap-4,  -0x1.973bc7f5deb14p-4};
// That to base 2, and to base 10.
inline constexpr double kLog1pTail2[] = {
    -0x1.71547652b82fep-1, 0x1.ec709dc3a03c4p-2,  -0x1.71547652b8becp-2,
    0x1.2776c50fc4ab0p-2,  -0x1.ec709da7ecf18p-3, 0x1.a6174a33d56f4p-3,
    -0x1.715547d591af5p-3, 0x1.48d740d3cf783p-3,  -0x1.25c1c388137d9p-3};
inline constexpr double kLog1pTail10[] = {
    -0x1.bcb7b1526e50ep-3, 0x1.287a7636f433cp-3,  -0x1.bcb7b1526efcep-4,
    0x1.63c6277619640p-4,  -0x1.287a762646d1bp-4, 0x1.fc3f88a375699p-5,
    -0x1.bcb8ad99399fbp-5, 0x1.8bf6bcc7a9768p-5,  -0x1.61b7f24eea708p-5};
// (log(1 + r) - r + r^2 / 2) / r^3; error 2^-65.4.
inline constexpr double kLog1pTail3[] = {
    0x1.5555555555555p-2,  -0x1.fffffffffffb8p-3, 0x1.999999999a4f1p-3,
    -0x1.5555555657314p-3, 0x1.24924912fa5efp-3,  -0x1.ffffe0ed33d4bp-4,
    0x1.c71d7bcf66a92p-4,  -0x1.9a4bbb529edf4p-4, 0x1.7232ebcc87807p-4};
// 2^(i/16)
alignas(64) inline constexpr double kRoots[16] = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
// and what they lack, relative to them.
alignas(64) inline constexpr double kRootsLow[16] = {0x0.0p+0,
                                                     0x1.79aa65d837b6dp-54,
                                                     -0x1.01b15eaa59348p-55,
                                                     0x1.68efde3a8a894p-54,
                                                     0x1.34d754db0abb6p-55,
                                                     0x1.59f48a72a4c6dp-55,
                                                     0x1.690cebb7aafb0p-56,
                                                     0x1.063e1e21c5409p-54,
                                                     -0x1.3b3efbf5e2228p-54,
                                                     -0x1.b32dcb94da51dp-56,
                                                     0x1.db72fc1f0eab4p-55,
                                                     0x1.1affc2b91ce27p-56,
                                                     0x1.c1a7792cb3387p-55,
                                                     0x1.36eae30af0cb3p-56,
                                                     0x1.4a385a63d07a7p-56,
                                                     -0x1.ff7128fd391f0p-55};
inline constexpr double kLn2Sixteenth[] = {0x1.62e42fefa0000p-5, 0x1.cf79abc9e3b3ap-44};
inline constexpr double kSixteenLog2E = 0x1.71547652b82fep+4;
// (exp(r) - 1 - r) / r^2, |r| <= ln(2) / 32; error 2^-58.7.
inline constexpr double kExpTail16[] = {0x1.0000000000001p-1,  0x1.5555555555556p-3,
                                        0x1.55555554e8d7bp-5,  0x1.11111110e0d94p-7,
                                        0x1.6c17ede661f5cp-10, 0x1.a01b0cb76698bp-13};
// (sinh(r) / r - 1) / z, z = r^2; error 2^-67.0.
inline constexpr double kSinhTail16[] = {0x1.5555555555556p-3, 0x1.11111110e0d94p-7,
                                         0x1.a01b0cb76698bp-13};
// (cosh(r) - 1) / z; error 2^-80.6.
inline constexpr double kCoshTail16[] = {0x1.0000000000000p-1, 0x1.5555555555556p-5,
                                         0x1.6c16c16bc108dp-10, 0x1.a01b1e85c2b2cp-16};
// (asin(q) / q - 1) / z, z = q^2 <= 1/4; error 2^-57.4.
inline constexpr double kAsinTail[] = {
    0x1.5555555555556p-3, 0x1.3333333332ecap-4, 0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6,
    0x1.6e8bb1c8209a2p-6, 0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7, 0x1.782651caa6547p-7,
    0x1.52420b04b37bep-7, 0x1.65a9c4dfcf8b1p-8, 0x1.1d189408314efp-6, -0x1.e6aaa8a0a04cfp-7,
    0x1.d72b2bc8155f8p-6};

}  // namespace plait::loops::PLAIT_TIER

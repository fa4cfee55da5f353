// The rules by name.
#pragma once
#include "../schedule/rule.hpp"

namespace plait::fusion {

const Rule& call_libraries();         // what loops cannot express, products of no region
const Rule& keep_held();              // what a live name may ask for again
const Rule& place_products();         // what stands around products in blocks
const Rule& multiply_in_regions();    // or by library calls
const Rule& read_reshaped();          // through a view, or put it in memory
const Rule& read_padding();           // or put it in memory
const Rule& cut_reductions();         // few results of long reductions
const Rule& keep_what_writes_read();  // values that several writes read
const Rule& scan_in_regions();        // or by calls
const Rule& scatter_in_regions();     // or by calls
const Rule& keep_carried();           // what a loop of the caller carries from step to step
const Rule& keep_products();          // that several regions would compute
const Rule& attend_in_blocks();       // a product of weights that follow from another product

}  // namespace plait::fusion

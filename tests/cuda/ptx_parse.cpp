// PTX text to instructions whose operands are numbered.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>

#include "ptx_words.hpp"

namespace ptx {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(without_comments(text)) {}
  std::shared_ptr<const Module> run() {
    while (skip_space(), at_ < text_.size()) outside();
    for (const auto& [code, callee] : calls_) {
      const auto f = functions_.find(callee);
      if (f == functions_.end()) fail("a call of " + callee + ", which is not there");
      module_->functions[code.first].code[code.second].target = f->second;
    }
    return module_;
  }

 private:
  struct Symbol {
    Special what;
    std::int64_t at;
  };
  std::string text_;
  std::size_t at_ = 0;
  std::shared_ptr<Module> module_ = std::make_shared<Module>();
  std::map<std::string, std::int32_t> functions_;
  std::map<std::string, std::uint64_t> variables_;  // addresses; of shared memory as offsets
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, std::string>> calls_;

  // Of the function that is being read.
  Function f_;
  bool kernel_ = false;
  std::map<std::string, Slot, std::less<>> slots_;
  std::vector<std::vector<std::pair<std::string, Slot>>> hidden_;  // by each open scope
  std::map<std::string, std::int32_t, std::less<>> labels_;
  std::map<std::string, std::vector<std::string>, std::less<>> target_lists_;
  std::map<std::string, Function::Parameter, std::less<>> frame_;
  std::vector<std::pair<std::size_t, std::string>> jumps_;

  static std::string without_comments(std::string_view s) {
    std::string out;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (s.substr(i, 2) == "//")
        while (i < s.size() && s[i] != '\n') ++i;
      if (s.substr(i, 2) == "/*") i = s.find("*/", i) + 2;
      if (i < s.size()) out += s[i];
    }
    return out.substr(0, out.find('\0'));
  }
  [[noreturn]] void fail(const std::string& what) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<long>(at_), '\n');
    throw std::runtime_error("PTX, line " + std::to_string(line) + ": " + what);
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::string_view upto(std::string_view ends) {
    const std::size_t end = text_.find_first_of(ends, at_);
    if (end == std::string::npos) fail("an unfinished statement");
    const std::string_view s = std::string_view(text_).substr(at_, end - at_);
    at_ = end;
    return s;
  }

  // A directive of the module, or a function.
  void outside() {
    const std::string_view rest = std::string_view(text_).substr(at_);
    for (const std::string_view line : {".version", ".target", ".address_size", ".file"})
      if (rest.starts_with(line)) {
        upto("\n");
        return;
      }
    // A header ends with a body, or none; initial values have braces of their own.
    const std::string_view header = upto("{;=");
    const std::vector<std::string_view> t = tokens(header);
    const auto has = [&](std::string_view word) {
      return std::find(t.begin(), t.end(), word) != t.end();
    };
    if (has(".entry") || has(".func")) {
      if (text_[at_] == '{')
        function(t, has(".entry"));
      else
        ++at_;
      return;
    }
    if (!has(".global") && !has(".const") && !has(".shared")) fail("an unknown directive");
    std::string_view values;
    if (text_[at_] == '=') values = upto(";");
    ++at_;
    variable(t, values);
  }

  struct Declared {
    std::string name;
    std::size_t bytes = 0, alignment = 1;
    int item_bits = 0;
  };
  // ".align 8 .b8 name[24]", from token n on.
  Declared declared(const std::vector<std::string_view>& t, std::size_t n) const {
    Declared d;
    std::size_t items = 1;
    for (; n < t.size(); ++n) {
      if (t[n] == ".align") {
        d.alignment = std::stoul(std::string(t[++n]));
      } else if (t[n] == "[") {
        items = t[n + 1] == "]" ? 0 : std::stoul(std::string(t[n + 1]));
        while (t[n] != "]") ++n;
      } else if (t[n][0] == '.') {
        if (const auto type = kTypes.find(t[n].substr(1)); type != kTypes.end())
          d.item_bits = bits(type->second);
      } else if (d.name.empty()) {
        d.name = t[n];
      } else {
        fail("two names in one declaration");
      }
    }
    if (d.name.empty() || d.item_bits == 0) fail("a declaration without name or type");
    d.bytes = items * static_cast<std::size_t>(d.item_bits) / 8;
    d.alignment = std::max(d.alignment, static_cast<std::size_t>(d.item_bits) / 8);
    return d;
  }

  void variable(const std::vector<std::string_view>& t, std::string_view values) {
    const Declared d = declared(t, 0);
    if (std::find(t.begin(), t.end(), ".shared") != t.end()) {
      // The launch's own has no size; what has one would lie beside it.
      if (d.bytes > 0) fail("shared memory of a fixed size");
      variables_[d.name] = 0;
      return;
    }
    auto memory = std::make_unique<std::uint64_t[]>(d.bytes / 8 + 1);
    auto* out = reinterpret_cast<unsigned char*>(memory.get());
    const std::size_t item = static_cast<std::size_t>(d.item_bits) / 8;
    for (const std::string_view v : tokens(values)) {
      if (!std::isdigit(static_cast<unsigned char>(v[0])) && v[0] != '-') continue;
      const std::uint64_t value = number(v);
      std::memcpy(out, &value, item);
      out += item;
    }
    variables_[d.name] = reinterpret_cast<std::uint64_t>(memory.get());
    module_->variables.push_back({memory.get(), d.bytes});
    module_->memory.push_back(std::move(memory));
  }

  std::uint64_t number(std::string_view s) const {
    if (s.starts_with("0f") || s.starts_with("0F"))
      return std::stoull(std::string(s.substr(2)), nullptr, 16);
    if (s.starts_with("0d") || s.starts_with("0D"))
      return std::stoull(std::string(s.substr(2)), nullptr, 16);
    if (s[0] == '-') return static_cast<std::uint64_t>(std::stoll(std::string(s), nullptr, 0));
    return std::stoull(std::string(s), nullptr, 0);
  }

  // The frame's next bytes.
  Function::Parameter place(const Declared& d) {
    f_.frame_bytes = padded(f_.frame_bytes, std::max<std::size_t>(8, d.alignment));
    const Function::Parameter p{f_.frame_bytes, d.bytes};
    f_.frame_bytes += d.bytes;
    frame_.insert_or_assign(d.name, p);
    return p;
  }

  // ".func (.param .b64 result) name (.param ...)", ".visible .entry name(...) .maxntid 256".
  void function(const std::vector<std::string_view>& t, bool kernel) {
    f_ = {};
    kernel_ = kernel;
    slots_.clear();
    labels_.clear();
    target_lists_.clear();
    frame_.clear();
    jumps_.clear();
    const auto parameters = [&](std::size_t& n, std::vector<Function::Parameter>& out) {
      ++n;
      while (t[n] != ")") {
        std::vector<std::string_view> one;
        while (t[n] != "," && t[n] != ")") one.push_back(t[n++]);
        if (t[n] == ",") ++n;
        one.erase(std::remove(one.begin(), one.end(), ".param"), one.end());
        Declared d = declared(one, 0);
        if (kernel) {
          f_.argument_bytes = padded(f_.argument_bytes, d.alignment);
          frame_.insert_or_assign(d.name, Function::Parameter{f_.argument_bytes, d.bytes});
          f_.argument_bytes += d.bytes;
        } else {
          out.push_back(place(d));
        }
      }
      ++n;
    };
    std::size_t n = 0;
    while (t[n] != ".entry" && t[n] != ".func") ++n;
    ++n;
    if (t[n] == "(") parameters(n, f_.results);
    f_.name = t[n++];
    if (n < t.size() && t[n] == "(") parameters(n, f_.parameters);
    functions_[f_.name] = static_cast<std::int32_t>(module_->functions.size());
    ++at_;
    for (int depth = 1; depth > 0;) {
      skip_space();
      // A scope may declare names again, which stand for the outer ones from its end on.
      if (text_[at_] == '{' || text_[at_] == '}') {
        const bool opens = text_[at_++] == '{';
        depth += opens ? 1 : -1;
        if (opens)
          hidden_.emplace_back();
        else if (depth > 0)
          close_scope();
        continue;
      }
      statement();
    }
    for (const auto& [where, label] : jumps_) {
      Instruction& i = f_.code[where];
      if (i.op == Op::Brx) {
        for (const std::string& l : target_lists_.at(label)) i.targets.push_back(labels_.at(l));
      } else {
        i.target = labels_.at(label);
      }
    }
    Instruction end{Op::Ret};
    f_.code.push_back(end);
    module_->functions.push_back(std::move(f_));
  }

  void statement() {
    std::size_t end = at_;
    while (in_name(text_[end])) ++end;
    if (text_[end] == ':') {
      const std::string label = text_.substr(at_, end - at_);
      at_ = end + 1;
      skip_space();
      if (std::string_view(text_).substr(at_).starts_with(".branchtargets")) {
        const auto t = tokens(upto(";"));
        for (std::size_t n = 1; n < t.size(); ++n)
          if (t[n] != ",") target_lists_[label].emplace_back(t[n]);
        ++at_;
        return;
      }
      labels_[label] = static_cast<std::int32_t>(f_.code.size());
      return;
    }
    if (std::string_view(text_).substr(at_).starts_with(".loc ") ||
        std::string_view(text_).substr(at_).starts_with(".loc\t")) {
      upto("\n");
      return;
    }
    const std::vector<std::string_view> t = tokens(upto(";"));
    if (t.empty()) {
      ++at_;
    } else if (t[0][0] == '.') {
      directive(t);
      ++at_;
    } else {
      instruction(t);
      ++at_;
    }
  }

  void directive(const std::vector<std::string_view>& t) {
    if (t[0] == ".reg") {
      const int width = t[1] == ".pred" ? 1 : bits(kTypes.at(t[1].substr(1)));
      for (std::size_t n = 2; n < t.size(); ++n) {
        if (t[n] == ",") continue;
        if (n + 1 < t.size() && t[n + 1] == "<") {
          const int count = std::stoi(std::string(t[n + 2]));
          for (int k = 0; k < count; ++k) add_slot(std::string(t[n]) + std::to_string(k), width);
          n += 3;
        } else {
          add_slot(std::string(t[n]), width);
        }
      }
    } else if (t[0] == ".local" || t[0] == ".param") {
      place(declared(t, 1));
    } else if (t[0] == ".shared") {
      variable(t, {});
    } else if (t[0] != ".pragma") {
      fail("an unknown directive " + std::string(t[0]));
    }
  }

  Slot add_slot(std::string name, int width, std::uint64_t initial = 0xa5a5a5a5a5a5a5a5) {
    const auto slot = static_cast<Slot>(f_.widths.size());
    f_.widths.push_back(static_cast<std::uint8_t>(width));
    f_.initial.push_back(width == 64 ? initial : initial & ((std::uint64_t{1} << width) - 1));
    Slot& known = slots_.try_emplace(name, kNone).first->second;
    if (!hidden_.empty()) hidden_.back().emplace_back(std::move(name), known);
    return known = slot;
  }
  void close_scope() {
    for (auto h = hidden_.back().rbegin(); h != hidden_.back().rend(); ++h)
      if (h->second == kNone)
        slots_.erase(h->first);
      else
        slots_[h->first] = h->second;
    hidden_.pop_back();
  }

  // A register, a number, a special register, or the address of a variable.
  Slot operand(std::string_view s) {
    if (s == "_") return kNone;
    if (const auto f = slots_.find(s); f != slots_.end()) return f->second;
    const std::string name(s);
    if (const auto special = kSpecials.find(s); special != kSpecials.end()) {
      const Slot slot = add_slot(name, 32);
      f_.presets.push_back({slot, special->second, 0});
      return slot;
    }
    if (s == "WARP_SZ") return add_slot(name, 64, 32);
    if (std::isdigit(static_cast<unsigned char>(s[0])) || s[0] == '-')
      return add_slot(name, 64, number(s));
    if (const auto in_frame = frame_.find(s); in_frame != frame_.end()) {
      // A scope may declare the name again, elsewhere: no slot is kept for it.
      const Slot slot = add_slot("", 64);
      f_.presets.push_back({slot, in_arguments(name) ? Special::Arguments : Special::InFrame,
                            static_cast<std::int64_t>(in_frame->second.at)});
      return slot;
    }
    if (const auto variable = variables_.find(name); variable != variables_.end())
      return add_slot(name, 64, variable->second);
    fail("an unknown operand " + name);
  }
  // Of a kernel, parameters that stand in its head are the launch's arguments.
  bool in_arguments(const std::string& name) const {
    return kernel_ && name.starts_with(f_.name + "_param_");
  }

  void instruction(std::vector<std::string_view> t) {
    Instruction i{Op::Nop};
    i.line = static_cast<int>(
        1 + std::count(text_.begin(), text_.begin() + static_cast<long>(at_), '\n'));
    std::size_t n = 0;
    if (t[0] == "@") {
      i.negate_guard = t[1] == "!";
      n = i.negate_guard ? 2 : 1;
      i.guard = operand(t[n++]);
    }
    const std::string_view mnemonic = t[n++];
    modifiers(mnemonic, i);
    t.erase(t.begin(), t.begin() + static_cast<long>(n));
    if (i.op == Op::Bra) {
      jumps_.emplace_back(f_.code.size(), t[0]);
    } else if (i.op == Op::Brx) {
      i.in.push_back(operand(t[0]));
      jumps_.emplace_back(f_.code.size(), t[2]);
    } else if (i.op == Op::Call) {
      call(t, i);
    } else {
      operands(t, i);
    }
    f_.code.push_back(std::move(i));
  }

  // call.uni (retval0), name, (param0, param1);
  void call(const std::vector<std::string_view>& t, Instruction& i) {
    std::string callee;
    for (const std::string_view s : t) {
      if (in_name(s[0]) && !frame_.contains(s)) {
        callee = s;
      } else if (const auto p = frame_.find(s); p != frame_.end()) {
        i.targets.push_back(static_cast<std::int32_t>(p->second.at));
      }
    }
    calls_.push_back({{module_->functions.size(), f_.code.size()}, callee});
  }

  void operands(const std::vector<std::string_view>& t, Instruction& i) {
    std::vector<std::vector<Slot>> groups;  // separated by commas; braces and | make one
    bool in_braces = false, first_is_address = false;
    groups.emplace_back();
    for (std::size_t n = 0; n < t.size(); ++n) {
      const std::string_view s = t[n];
      if (s == "{" || s == "}") {
        in_braces = s == "{";
      } else if (s == ",") {
        if (!in_braces) groups.emplace_back();
      } else if (s == "|") {
      } else if (s == "!") {
        i.negate_last = true;
      } else if (s == "[") {
        first_is_address |= groups.size() == 1;
        groups.back().push_back(operand(t[++n]));
        if (t[n + 1] == "+" || t[n + 1][0] == '-' || t[n + 1] == "-") {
          const bool plus = t[n + 1] == "+";
          i.offset = static_cast<std::int64_t>(number(plus ? t[n + 2] : t[n + 1]));
          n += plus ? 2 : 1;
        }
        ++n;
      } else if (n + 2 < t.size() && t[n + 1] == "+") {  // the address of a variable's part
        const Slot base = operand(s);
        const auto preset = std::find_if(f_.presets.begin(), f_.presets.end(),
                                         [&](const Preset& p) { return p.slot == base; });
        const auto more = static_cast<std::int64_t>(number(t[n + 2]));
        const Slot moved = add_slot("", 64, f_.initial[base] + static_cast<std::uint64_t>(more));
        if (preset != f_.presets.end()) {
          const Preset p = *preset;
          f_.presets.push_back({moved, p.what, p.offset + more});
        }
        groups.back().push_back(moved);
        n += 2;
      } else {
        groups.back().push_back(operand(s));
      }
    }
    // Of stores, barriers and the like every operand is read; else the first is written.
    const bool writes = i.op != Op::St && i.op != Op::Red && i.op != Op::CpAsync &&
                        i.op != Op::Bar && i.op != Op::BarWarp && i.op != Op::Nop &&
                        i.op != Op::Ret && i.op != Op::Exit && i.op != Op::Trap;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const Slot s : groups[g]) (writes && g == 0 ? i.to : i.in).push_back(s);
  }

  void modifiers(std::string_view mnemonic, Instruction& i) {
    const std::vector<std::string_view> parts = split(mnemonic, '.');
    const std::string_view name = parts[0];
    const bool warp = parts.size() > 1 && parts[1] == "warp";
    if (name == "bar" || name == "barrier") {
      i.op = warp ? Op::BarWarp : Op::Bar;
      for (const std::string_view p : parts)
        if (p == "arrive" || p == "red") fail("a barrier of another kind");
    } else if (const auto op = kOps.find(name); op != kOps.end()) {
      i.op = op->second;
    } else {
      fail("an unknown instruction " + std::string(mnemonic));
    }
    // Of atomic operations the one that finds a least number.
    if ((i.op == Op::Atom || i.op == Op::Red) && !mnemonic.ends_with(".min.u64"))
      fail("an atomic operation of another kind");
    // Of matrices there is one shape each.
    if (i.op == Op::Mma && !mnemonic.ends_with(".m16n8k16.row.col.f32.f16.f16.f32"))
      fail("a product of another kind");
    if (i.op == Op::Ldmatrix && mnemonic.find(".m8n8.x4.") == std::string_view::npos)
      fail("matrices of another kind");
    if (i.op == Op::CpAsync) {
      const bool copies = mnemonic.ends_with(".shared.global");
      if (!copies && mnemonic != "cp.async.commit_group" && mnemonic != "cp.async.wait_group" &&
          mnemonic != "cp.async.wait_all")
        fail("copies of another kind");
      i.mode = copies ? 'c' : mnemonic.ends_with("_all") ? 'a' : mnemonic[9] == 'w' ? 'w' : 'g';
    }
    for (std::size_t n = 1; n < parts.size(); ++n) {
      const std::string_view p = parts[n];
      if (i.op == Op::Mma || i.op == Op::CpAsync) break;
      if (i.op == Op::Ldmatrix && (p == "m8n8" || p == "x4")) continue;
      if ((i.op == Op::Atom || i.op == Op::Red) && (p == "min" || p == "gpu")) continue;
      if (const auto type = kTypes.find(p); type != kTypes.end()) {
        (i.type == Type::None ? i.type : i.from) = type->second;
      } else if (const auto space = kSpaces.find(p); space != kSpaces.end()) {
        i.space = space->second;
      } else if (const auto compare = kCompares.find(p);
                 compare != kCompares.end() && (i.op == Op::Setp || i.op == Op::Set) && n == 1) {
        i.compare = compare->second;
      } else if (const auto round = kRounds.find(p); round != kRounds.end()) {
        i.round = round->second;
        i.to_integral |= p.size() == 3;
      } else if (p == "to" && i.op == Op::Cvta) {
        i.op = Op::CvtaTo;
      } else if (i.op == Op::Setp && (p == "and" || p == "or" || p == "xor")) {
        i.combine = p == "and" ? '&' : p == "or" ? '|' : '^';
      } else if (p == "lo" || p == "hi" || p == "wide" || p == "idx" || p == "up" || p == "down" ||
                 p == "bfly" || p == "l" || p == "r" || p == "finite" || p == "infinite" ||
                 p == "number" || p == "notanumber" || p == "normal" || p == "subnormal") {
        i.mode = p == "normal" ? 'o' : p == "notanumber" ? 'a' : p[0];
      } else if (p == "trans") {
        i.mode = 't';
      } else if (p == "ftz") {
        i.flush = true;
      } else if (p == "sat") {
        i.saturate = true;
      } else if (p == "approx" || p == "full") {
        i.approximate = true;
      } else if (p == "NaN") {
        i.nan = true;
      } else if (p == "wrap") {
        i.wrap = true;
      } else if (p == "cc") {
        i.carry_out = true;
      } else if (p != "v2" && p != "v4" && p != "v8" && p != "nc" && p != "uni" && p != "sync" &&
                 p != "aligned" && p != "warp" && p != "clamp" && p != "weak" && p != "volatile" &&
                 p != "relaxed" && p != "ca" && p != "cg" && p != "cs" && p != "lu" && p != "cv" &&
                 p != "wb" && p != "wt" && p != "cta" && p != "gl" && p != "sys" &&
                 i.op != Op::Nop) {
        fail("an unknown modifier of " + std::string(mnemonic));
      }
    }
    i.carry_in = i.op == Op::Addc || i.op == Op::Subc || i.op == Op::Madc;
    if (i.from == Type::None) i.from = i.type;
  }
};

}  // namespace

std::shared_ptr<const Module> parse(std::string_view text) { return Parser(text).run(); }

const Function* find(const Module& m, std::string_view name) {
  const auto f = std::find_if(m.functions.begin(), m.functions.end(),
                              [&](const Function& f) { return f.name == name; });
  return f == m.functions.end() ? nullptr : &*f;
}

}  // namespace ptx

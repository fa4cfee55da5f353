// LLVM's static objects are never destroyed. At exit they would go while the compile thread may
// still be inside LLVM: the module is opened after that thread's own exit handler was registered,
// and handlers run in reverse order. The module stays open until the process ends, so nothing is
// lost. Hidden: only code of this shared object resolves to it.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}

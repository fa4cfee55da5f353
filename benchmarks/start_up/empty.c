/* What a process costs that does nothing. */
#include <stdio.h>

int main(void) {
  puts("first");
  return 0;
}

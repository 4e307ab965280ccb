/* Installed with the set-user-id bit: tells whether the bit took effect. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
  printf("Effective uid: %d\n", geteuid());
  return 0;
}

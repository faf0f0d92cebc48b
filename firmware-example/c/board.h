/* MPS2 AN386, a Cortex-M4F, in QEMU: words to the host, its exit status, and a count of instructions. */

#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void print(const char *words);
void print_number(uint32_t number);

/* Instructions since the start, with `-icount shift=7`: one takes 128 ns, a tick of the board's timer 40 ns. */
uint32_t instruction_count(void);

#endif

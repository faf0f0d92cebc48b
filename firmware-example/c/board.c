/* What happens before main and after it on an MPS2 AN386; board.ld says where everything lies. */

#include "board.h"

extern uint32_t stack_top, data_begin, data_end, data_in_flash, bss_begin, bss_end;

int main(void);

/* Semihosting: an operation of the debugger, here QEMU, by its number. */
enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };

static void semihosting(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void print(const char *words) { semihosting(SYS_WRITE0, words); }

void print_number(uint32_t number) {
  char digits[11];
  char *at = digits + sizeof digits - 1;
  *at = 0;
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  print(at);
}

static void leave(uint32_t status) {
  const uint32_t reason[2] = {APPLICATION_EXIT, status};
  for (;;) semihosting(SYS_EXIT_EXTENDED, reason);
}

#define TIMER ((volatile uint32_t *)0x40000000) /* CMSDK TIMER0: control, value, reload */

static void start_timer(void) {
  TIMER[2] = UINT32_MAX;
  TIMER[1] = UINT32_MAX;
  TIMER[0] = 1;
}

uint32_t instruction_count(void) { return (uint32_t)(((uint64_t)(UINT32_MAX - TIMER[1]) * 40 + 64) / 128); }

#define COPROCESSORS (*(volatile uint32_t *)0xe000ed88) /* CPACR: the FPU is number 10 and 11 */

void reset(void) {
  COPROCESSORS |= 0xf << 20;
  __asm__ volatile("dsb\nisb");
  for (uint32_t *from = &data_in_flash, *to = &data_begin; to < &data_end;) *to++ = *from++;
  for (uint32_t *to = &bss_begin; to < &bss_end;) *to++ = 0;
  start_timer();
  leave((uint32_t)main());
}

static void fault(void) {
  print("error: a fault of the processor\n");
  leave(1);
}

/* The first word is the stack's, then the handlers: reset, NMI and the four faults. */
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};

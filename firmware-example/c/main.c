/* The invariants of the example's signals, computed from C and compared with the host's, bit for bit.
 *
 * One turn of a machine, 64 samples; `turn.h` is what `bispectral export model/turn.bsn -o turn.h --emit c` writes.
 * Exits with 1 when anything is off.
 */

#include "bispectral.h"
#include "board.h"
#include "turn.h"

enum { SIGNALS = 3 };

/* ../model/reference.bin: signals, invariants and checksums, each behind its length. */
extern const uint8_t reference[];
__asm__(".section .rodata\n.global reference\nreference: .incbin \"../model/reference.bin\"\n.previous");

static BispectralModel model;
static float x[TURN_INPUTS];
static float scratch[TURN_SCRATCH];
static BispectralComplex features[TURN_PAIRS];

/* A length as postcard writes it, seven bits a byte. */
static size_t length(const uint8_t **at) {
  size_t value = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *(*at)++;
    value |= (size_t)(byte & 127) << shift;
    if (byte < 128) return value;
  }
}

static uint32_t word(const uint8_t *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static float number(uint32_t bits) {
  union { uint32_t bits; float value; } number = {bits};
  return number.value;
}

static uint32_t bits(float value) {
  union { float value; uint32_t bits; } number = {value};
  return number.bits;
}

static unsigned equal(const BispectralComplex *term, const uint8_t *expected) {
  return bits(term->re) == word(expected) && bits(term->im) == word(expected + 4);
}

/* Terms as they come, until their norm is known. */
struct Stream {
  BispectralComplex *next;
};

static void collect(void *user, size_t i, size_t j, BispectralComplex term) {
  (void)i, (void)j;
  *((struct Stream *)user)->next++ = term;
}

static unsigned check(const char *what, BispectralStatus found, BispectralStatus expected) {
  if (found == expected) return 1;
  print(what);
  print(": ");
  print(bispectral_text(found));
  print("\n");
  return 0;
}

/* What a caller may get wrong is said, not done. */
static unsigned refusals(void) {
  static BispectralModel closed;
  BispectralMagnitude magnitude;
  unsigned good = 1;
  good &= check("zeroed model", bispectral_invariants(&closed, x, TURN_INPUTS, scratch, TURN_SCRATCH, features, TURN_PAIRS),
                BISPECTRAL_STATUS_NOT_OPEN);
  good &= bispectral_inputs(&closed) == 0 && bispectral_inputs(NULL) == 0;
  good &= check("truncated", bispectral_open(&closed, turn_model, TURN_BYTES - 1), BISPECTRAL_STATUS_TRUNCATED);
  good &= check("not a model", bispectral_open(&closed, turn_model + 1, TURN_BYTES - 1), BISPECTRAL_STATUS_MAGIC);
  good &= check("no bytes", bispectral_open(&closed, NULL, 9), BISPECTRAL_STATUS_POINTER);
  good &= check("no model", bispectral_open(NULL, turn_model, TURN_BYTES), BISPECTRAL_STATUS_POINTER);
  good &= check("short signal", bispectral_coefficients(&model, x, TURN_INPUTS - 1, scratch, TURN_SCRATCH, features, TURN_PAIRS),
                BISPECTRAL_STATUS_INPUT_LENGTH);
  good &= check("short scratch", bispectral_bispectrum(&model, x, TURN_INPUTS, scratch, 1, features, TURN_PAIRS),
                BISPECTRAL_STATUS_SCRATCH_LENGTH);
  good &= check("short result", bispectral_invariants(&model, x, TURN_INPUTS, scratch, TURN_SCRATCH, features, 1),
                BISPECTRAL_STATUS_OUTPUT_LENGTH);
  good &= check("misaligned", bispectral_power_spectrum(&model, (const float *)(turn_model + 1), TURN_INPUTS, scratch, TURN_SCRATCH,
                                                        (float *)features, TURN_ROWS),
                BISPECTRAL_STATUS_POINTER);
  good &= check("overlap", bispectral_bispectrum(&model, x, TURN_INPUTS, (float *)features, TURN_SCRATCH, features, TURN_PAIRS),
                BISPECTRAL_STATUS_POINTER);
  good &= check("no callback", bispectral_stream(&model, x, TURN_INPUTS, scratch, TURN_SCRATCH, NULL, NULL, &magnitude),
                BISPECTRAL_STATUS_POINTER);
  return good;
}

/* One signal, buffered and streamed: how many of its invariants have the host's bits. */
static unsigned compare(const uint8_t *expected, uint32_t *instructions) {
  unsigned same = 0;
  uint32_t before = instruction_count();
  BispectralStatus status = bispectral_invariants(&model, x, TURN_INPUTS, scratch, TURN_SCRATCH, features, TURN_PAIRS);
  *instructions = instruction_count() - before;
  if (!check("invariants", status, BISPECTRAL_STATUS_OK)) return 0;
  for (size_t k = 0; k < TURN_PAIRS; k++) same += equal(&features[k], expected + 8 * k);

  /* The constant of the header, which needs not be opened. */
  for (size_t k = 0; k < TURN_PAIRS; k++) features[k].re = features[k].im = 0.0f;
  status = bispectral_invariants(&turn, x, TURN_INPUTS, scratch, TURN_SCRATCH, features, TURN_PAIRS);
  if (!check("constant", status, BISPECTRAL_STATUS_OK)) return 0;
  for (size_t k = 0; k < TURN_PAIRS; k++) same += equal(&features[k], expected + 8 * k);

  struct Stream stream = {features};
  BispectralMagnitude magnitude;
  status = bispectral_stream(&model, x, TURN_INPUTS, scratch, TURN_SCRATCH, collect, &stream, &magnitude);
  if (!check("stream", status, BISPECTRAL_STATUS_OK)) return 0;
  float factor = 1.0f / magnitude.norm;
  for (size_t k = 0; k < TURN_PAIRS; k++) {
    BispectralComplex term = {features[k].re * factor, features[k].im * factor};
    same += equal(&term, expected + 8 * k);
  }
  return same;
}

int main(void) {
  if (!check("open", bispectral_open(&model, turn_model, TURN_BYTES), BISPECTRAL_STATUS_OK)) return 1;
  unsigned good = bispectral_inputs(&model) == TURN_INPUTS && bispectral_rows(&model) == TURN_ROWS &&
                  bispectral_pairs(&model) == TURN_PAIRS && bispectral_scratch_length(&model) == TURN_SCRATCH;

  const uint8_t *at = reference;
  size_t bytes = length(&at);
  const uint8_t *signals = at;
  at += bytes;
  bytes = length(&at);
  const uint8_t *invariants = at;
  good &= bytes == SIGNALS * TURN_PAIRS * 8;

  unsigned same = 0;
  uint32_t instructions = 0;
  for (size_t signal = 0; signal < SIGNALS; signal++) {
    for (size_t n = 0; n < TURN_INPUTS; n++) x[n] = number(word(signals + 4 * (signal * TURN_INPUTS + n)));
#ifdef TAMPERED
    x[0] = number(bits(x[0]) ^ 1);
#endif
    same += compare(invariants + signal * TURN_PAIRS * 8, &instructions);
  }
  good &= same == 3 * SIGNALS * TURN_PAIRS;
  good &= refusals();

  print("bits equal to the host's   ");
  print_number(same);
  print(" of ");
  print_number(3 * SIGNALS * TURN_PAIRS);
  print(" invariants\ninstructions an inference  ");
  print_number(instructions);
  print(good ? "\nok\n" : "\nFAILED\n");
  return good ? 0 : 1;
}

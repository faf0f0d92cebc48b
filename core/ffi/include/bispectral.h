/* Bispectral invariants for firmware written in C, over the static library of core/ffi.
 *
 *     static BispectralModel model;
 *     static float scratch[TURN_SCRATCH];                    // sizes from the header of `bispectral export --emit c`
 *     static BispectralComplex features[TURN_PAIRS];
 *
 *     BispectralStatus status = bispectral_open(&model, turn_model, sizeof turn_model);
 *     if (status == BISPECTRAL_STATUS_OK)
 *         status = bispectral_invariants(&model, x, TURN_INPUTS, scratch, TURN_SCRATCH, features, TURN_PAIRS);
 *     if (status != BISPECTRAL_STATUS_OK)
 *         puts(bispectral_text(status));
 *
 * No function allocates, keeps a pointer but for the model's bytes, or writes to anything but what it is given.
 * Models that are open may be used by several tasks at once, each with buffers of its own.
 * Made by cbindgen from core/ffi/src; BLESS=1 cargo test -p bispectral-tests --test ffi header makes it anew.
 */

#ifndef BISPECTRAL_H
#define BISPECTRAL_H

#include <stddef.h>
#include <stdint.h>

// Words of memory for the view: what it takes on any processor, and room for later versions.
#define BISPECTRAL_VIEW_WORDS 16

// What stands in a constant that `bispectral export --emit c` wrote: its words are the bytes' address, their number and four more.
#define BISPECTRAL_CONSTANT 2975449175

// What became of a call.
typedef enum {
  // It did what it says.
  BISPECTRAL_STATUS_OK = 0,
  // A pointer is null or not aligned for its type, or buffers overlap.
  BISPECTRAL_STATUS_POINTER = 1,
  // The model was not opened.
  BISPECTRAL_STATUS_NOT_OPEN = 2,
  // The model ends before it should.
  BISPECTRAL_STATUS_TRUNCATED = 3,
  // There are bytes behind the end of the model.
  BISPECTRAL_STATUS_TRAILING_BYTES = 4,
  // The bytes do not begin like a model.
  BISPECTRAL_STATUS_MAGIC = 5,
  // The model was written by a newer exporter.
  BISPECTRAL_STATUS_VERSION = 6,
  // The checksum differs.
  BISPECTRAL_STATUS_CHECKSUM = 7,
  // The model's fields do not decode.
  BISPECTRAL_STATUS_MALFORMED = 8,
  // The model's inputs or rows are none or too many.
  BISPECTRAL_STATUS_DIMENSIONS = 9,
  // The weights do not have the length the dimensions call for.
  BISPECTRAL_STATUS_WEIGHT_LENGTH = 10,
  // The model needs a part that the library does not know or was built without.
  BISPECTRAL_STATUS_UNSUPPORTED = 11,
  // A weight is infinite or not a number.
  BISPECTRAL_STATUS_NON_FINITE_WEIGHT = 12,
  // The largest weight is outside 2^-60 to 2^60.
  BISPECTRAL_STATUS_WEIGHT_RANGE = 13,
  // The signal has not as many samples as the model has inputs.
  BISPECTRAL_STATUS_INPUT_LENGTH = 14,
  // The scratch buffer is too short.
  BISPECTRAL_STATUS_SCRATCH_LENGTH = 15,
  // The buffer for the result is too short.
  BISPECTRAL_STATUS_OUTPUT_LENGTH = 16,
  // A sample is infinite or not a number.
  BISPECTRAL_STATUS_NON_FINITE_INPUT = 17,
  // Every sample is zero.
  BISPECTRAL_STATUS_ZERO_INPUT = 18,
  // The bispectrum is zero up to rounding: third order says nothing about the signal.
  BISPECTRAL_STATUS_ZERO_BISPECTRUM = 19,
  // The result is larger than a float holds.
  BISPECTRAL_STATUS_OVERFLOW = 20,
  // The model calls for a fast Fourier transform, and the library was built without feature `fft`.
  BISPECTRAL_STATUS_NEEDS_FFT = 21,
  // The library met an error that this header has no number for.
  BISPECTRAL_STATUS_OTHER = 22,
  // The model was exported without a classifier.
  BISPECTRAL_STATUS_NO_CLASSIFIER = 23,
  // The model is of a kind that the library was built without.
  BISPECTRAL_STATUS_NEEDS_FEATURE = 24,
} BispectralStatus;

// A model: memory for the library's view of it, which `bispectral_open` fills. The bytes of the model stay where they are,
// in flash. May be copied and needs no closing; what is in it is the library's business.
typedef struct {
  size_t mark;
  size_t view[BISPECTRAL_VIEW_WORDS];
} BispectralModel;

// A complex number.
typedef struct {
  // Its real part.
  float re;
  // Its imaginary part.
  float im;
} BispectralComplex;

// Takes one term of the bispectrum: `user` as it was given, the pair i <= j, and the term.
typedef void (*BispectralEach)(void *user, size_t i, size_t j, BispectralComplex term);

// The length of a bispectrum, known once every term was handed out. The invariant of a term is, to the bit,
// `term.re * factor` and `term.im * factor` with `float factor = 1.0f / norm`.
typedef struct {
  // The length of the vector of all terms.
  float norm;
  // The terms are those of the signal as given divided by 2 to this.
  int32_t exponent;
} BispectralMagnitude;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// What a status means, in English; the text is the library's and stays. Any number is allowed.
const char *bispectral_text(int32_t status);

// Checks every byte of a model once and makes `model` a view of it.
//
// Any alignment of the bytes works; at a multiple of four the weights are loaded faster.
// Where this fails, `model` is not open.
//
// # Safety
// `model` points to a BispectralModel. `bytes` points to `length` bytes that do not change as long as `model` is used.
BispectralStatus bispectral_open(BispectralModel *model, const uint8_t *bytes, size_t length);

// N: the samples of a signal; 0 where the model is not open.
//
// # Safety
// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
size_t bispectral_inputs(const BispectralModel *model);

// R: the rows of W, one coefficient each; 0 where the model is not open.
//
// # Safety
// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
size_t bispectral_rows(const BispectralModel *model);

// The invariants of a signal; 0 where the model is not open.
//
// # Safety
// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
size_t bispectral_pairs(const BispectralModel *model);

// Numbers that bispectral_features gives for a signal; 0 where the model is not open.
//
// # Safety
// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
size_t bispectral_feature_count(const BispectralModel *model);

// Classes that bispectral_scores tells apart; 0 where the model has no classifier or is not open.
//
// # Safety
// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
size_t bispectral_classes(const BispectralModel *model);

// Floats of scratch that bispectral_scores needs; 0 where the model is not open.
//
// # Safety
// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
size_t bispectral_classifier_scratch_length(const BispectralModel *model);

// Floats of scratch that the functions below need; 0 where the model is not open.
//
// # Safety
// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
size_t bispectral_scratch_length(const BispectralModel *model);

// z = W x, one coefficient a row, to the front of `z`, which has room for `length`.
//
// # Safety
// `model` is null, zeroed, or was given to bispectral_open; the buffers are as long as is said, and no other task uses them.
BispectralStatus bispectral_coefficients(const BispectralModel *model,
                                         const float *x,
                                         size_t samples,
                                         float *scratch,
                                         size_t scratch_length,
                                         BispectralComplex *z,
                                         size_t length);

// |z|^2, one a row, to the front of `power`, which has room for `length`.
//
// # Safety
// As bispectral_coefficients.
BispectralStatus bispectral_power_spectrum(const BispectralModel *model,
                                           const float *x,
                                           size_t samples,
                                           float *scratch,
                                           size_t scratch_length,
                                           float *power,
                                           size_t length);

// The bispectrum of x before it is normalised, to the front of `beta`, which has room for `length`.
//
// # Safety
// As bispectral_coefficients.
BispectralStatus bispectral_bispectrum(const BispectralModel *model,
                                       const float *x,
                                       size_t samples,
                                       float *scratch,
                                       size_t scratch_length,
                                       BispectralComplex *beta,
                                       size_t length);

// The normalised bispectrum of x, which does not change when x is moved, to the front of `invariants`, which has room
// for `length`.
//
// # Safety
// As bispectral_coefficients.
BispectralStatus bispectral_invariants(const BispectralModel *model,
                                       const float *x,
                                       size_t samples,
                                       float *scratch,
                                       size_t scratch_length,
                                       BispectralComplex *invariants,
                                       size_t length);

// The features of x as real numbers, whatever the form of the model's output, to the front of `features`, which has room for
// `length`: what a classifier or a nearest neighbour takes.
//
// # Safety
// As bispectral_coefficients.
BispectralStatus bispectral_features(const BispectralModel *model,
                                     const float *x,
                                     size_t samples,
                                     float *scratch,
                                     size_t scratch_length,
                                     float *features,
                                     size_t length);

// As bispectral_features, of the samples of a converter.
//
// # Safety
// As bispectral_coefficients.
BispectralStatus bispectral_features_i16(const BispectralModel *model,
                                         const int16_t *x,
                                         size_t samples,
                                         float *scratch,
                                         size_t scratch_length,
                                         float *features,
                                         size_t length);

// The score of every class, to the front of `scores`, which has room for `length`; the largest is the class.
//
// # Safety
// As bispectral_coefficients.
BispectralStatus bispectral_scores(const BispectralModel *model,
                                   const float *x,
                                   size_t samples,
                                   float *scratch,
                                   size_t scratch_length,
                                   float *scores,
                                   size_t length);

// As bispectral_scores, of the samples of a converter.
//
// # Safety
// As bispectral_coefficients.
BispectralStatus bispectral_scores_i16(const BispectralModel *model,
                                       const int16_t *x,
                                       size_t samples,
                                       float *scratch,
                                       size_t scratch_length,
                                       float *scores,
                                       size_t length);

// The class of x, to `class`: the first of those with the largest score. The scores go to the front of `scores`, which has
// room for `length`.
//
// # Safety
// As bispectral_coefficients; `class` points to a number.
BispectralStatus bispectral_classify(const BispectralModel *model,
                                     const float *x,
                                     size_t samples,
                                     float *scratch,
                                     size_t scratch_length,
                                     float *scores,
                                     size_t length,
                                     size_t *class_);

// As bispectral_classify, of the samples of a converter.
//
// # Safety
// As bispectral_coefficients; `class` points to a number.
BispectralStatus bispectral_classify_i16(const BispectralModel *model,
                                         const int16_t *x,
                                         size_t samples,
                                         float *scratch,
                                         size_t scratch_length,
                                         float *scores,
                                         size_t length,
                                         size_t *class_);

// Hands every term of the bispectrum to `each` with `user`, in the order of the invariants, and then tells their `magnitude`:
// for devices that cannot hold all terms but can project, compare or classify them as they come.
//
// # Safety
// As bispectral_coefficients; `each` returns (no longjmp) and touches neither `x` nor `scratch` nor `magnitude`.
BispectralStatus bispectral_stream(const BispectralModel *model,
                                   const float *x,
                                   size_t samples,
                                   float *scratch,
                                   size_t scratch_length,
                                   BispectralEach each,
                                   void *user,
                                   BispectralMagnitude *magnitude);

// As bispectral_stream, of the samples of a converter.
//
// # Safety
// As bispectral_coefficients; `each` returns (no longjmp) and touches neither `x` nor `scratch` nor `magnitude`.
BispectralStatus bispectral_stream_i16(const BispectralModel *model,
                                       const int16_t *x,
                                       size_t samples,
                                       float *scratch,
                                       size_t scratch_length,
                                       BispectralEach each,
                                       void *user,
                                       BispectralMagnitude *magnitude);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BISPECTRAL_H */

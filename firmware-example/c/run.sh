#!/usr/bin/env bash
# Builds the C program against libbispectral.a and runs it on an emulated Cortex-M4F. Arguments go to the compiler.
# OUT is where everything is built; a turn.h in it is used as it is.
set -euo pipefail
cd "$(dirname "$0")"
TARGET=thumbv7em-none-eabihf
OUT=${OUT:-../target/c}
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)

# With feature `proof` the program links only if the library has no panic path.
(cd ../../core/ffi && cargo build --release --target "$TARGET" --features proof)
[ -e "$OUT/turn.h" ] ||
  (cd ../.. && cargo run --release -p bispectral -- export firmware-example/model/turn.bsn -o "$OUT/turn.h" --emit c)
arm-none-eabi-gcc -std=c11 -Wall -Wextra -Werror -O2 -ffreestanding -ffp-contract=off "$@" \
  -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 \
  -I ../../core/ffi/include -I "$OUT" main.c board.c \
  -nostdlib -Wl,--gc-sections,-z,noexecstack -T board.ld -L "../../core/ffi/target/$TARGET/release" -lbispectral \
  -o "$OUT/turn.elf"
arm-none-eabi-size "$OUT/turn.elf"
exec qemu-system-arm -M mps2-an386 -cpu cortex-m4 -icount shift=7 -nographic \
  -semihosting-config enable=on,target=native -kernel "$OUT/turn.elf"

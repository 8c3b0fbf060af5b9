/* What _tile_loadconfig should be where the compiler's own is wrong.
 *
 * In some versions of GCC (12.2 among them) it tells the optimiser that it reads 8 of the 64 bytes
 * (https://gcc.gnu.org/bugzilla/show_bug.cgi?id=114098), so the others are never written, and llama.cpp ends with a
 * general protection fault in its first pass of several tokens on every processor with AMX.
 */
#if defined(__cplusplus) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg\t%X0" ::"m"(*(const char(*)[64])(config)))
#endif

/* The system's LMDB, and a hint to the processor that Swift has no word for. */
#include <lmdb.h>

/* The cache line at this address is about to be read; the address need not be mapped. */
static inline void quire_prefetch(const void *address) { __builtin_prefetch(address); }

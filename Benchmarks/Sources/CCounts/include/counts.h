// What this thread has asked of LMDB and of the heap, for a whole process, libraries included.
//
// The executable defines LMDB's calls and malloc; libraries and the executable itself find these first, and they
// pass each call on.
#ifndef QUIRE_BENCH_COUNTS_H
#define QUIRE_BENCH_COUNTS_H
#include <stdint.h>

typedef struct {
    uint64_t reads;       // records looked up, and steps of cursors
    uint64_t writes;      // records put or deleted
    uint64_t allocations; // by malloc, calloc, realloc and those for aligned memory
    uint64_t allocated;   // bytes
} call_counts;

call_counts call_counts_now(void);
#endif

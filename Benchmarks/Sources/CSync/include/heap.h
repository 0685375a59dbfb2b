#ifndef QUIRE_BENCH_HEAP_H
#define QUIRE_BENCH_HEAP_H

// Hands freed memory back to the system, so that what a process uses now is what it holds.
void heap_release_free(void);
#endif

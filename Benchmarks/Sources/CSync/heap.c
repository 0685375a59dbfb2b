#include "heap.h"

#include <malloc.h>

void heap_release_free(void) { malloc_trim(0); }

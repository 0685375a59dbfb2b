/* The system's LMDB, and nothing else. */
#include <lmdb.h>

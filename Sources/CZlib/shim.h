/* The system's zlib, and nothing else. */
#include <zlib.h>

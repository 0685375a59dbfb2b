// The same as header.c, for C++.
#include "header.c"

/* The system's libexpat, and nothing else. */
#include <expat.h>

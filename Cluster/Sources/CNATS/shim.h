/* The system's libnats. */
#include <nats/nats.h>

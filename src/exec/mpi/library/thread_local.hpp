// Variables of a thread that are quick to find.
#pragma once

// A simulated rank is no thread: what it remembers must be among the variables that SMPI keeps apart for it.
#ifdef CIRCOLL_SIMULATED
#define CIRCOLL_THREAD_LOCAL static
#else
// Found without a call of the run-time linker, in the drop-in too. Libraries that are loaded late have few bytes of this kind.
#define CIRCOLL_THREAD_LOCAL [[gnu::tls_model("initial-exec")]] thread_local
#endif

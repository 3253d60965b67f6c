// Threads: one OpenMP pool shared with oneDNN, OpenBLAS and LibTorch, so that nobody oversubscribes
// the cores.
#pragma once

#include <cstdint>
#include <functional>

namespace soft {

int hardware_threads();       // cores this process may use
int threads();                // threads a parallel region started here would get
void set_threads(int count);  // for regions started from this thread; 0 means all cores

// Calls body(begin, end) on disjoint ranges that cover [0, count). The split depends only on count
// and the number of threads. The first exception thrown by a body is rethrown here.
void parallel_for(int64_t count, const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace soft

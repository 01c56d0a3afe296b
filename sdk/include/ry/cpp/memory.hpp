// Releases memory. Assigning {} to a string or a vector, or an empty string to a string, keeps its capacity; this does
// not.
#pragma once

namespace ry {

// Empties a container and frees its memory.
template <class Container>
void give_back(Container& c) noexcept {
  Container().swap(c);
}

}  // namespace ry

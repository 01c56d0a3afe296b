// Giving memory back. Assigning {} to a string or a vector, or an empty string to a string, keeps what it
// had reserved; this does not.
#pragma once

namespace ry {

// Empties a container and frees what it held.
template <class Container>
void give_back(Container& c) noexcept {
  Container().swap(c);
}

}  // namespace ry

// Letters and characters of languages by their frequency, for the detection of encodings. Pure.
#pragma once
#include <span>
#include <string_view>

namespace extract {

// An alphabet in an encoding. `letters`: those outside ASCII in lower case, the most frequent ones first. `prior`: how rare texts of
// this language and encoding are, in bits.
struct alphabet_model {
  const char* encoding;
  double prior;
  std::u32string_view letters, vowels;
  bool latin;
};
std::span<const alphabet_model> alphabet_models();

// An encoding with characters of two bytes. `common`: frequent ideographs or syllables.
enum class cjk_layout { gb, big5, shift_jis, euc_jp, korean };
struct cjk_model {
  const char* encoding;
  double prior;
  cjk_layout layout;
  std::u32string_view common;
};
std::span<const cjk_model> cjk_models();

}  // namespace extract

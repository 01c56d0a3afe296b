// Frequent letters and characters of languages, for the detection of encodings. Pure.
#pragma once
#include <span>
#include <string_view>

namespace extract {

// An alphabet in an encoding. `letters`: the lower-case letters outside ASCII, the most frequent ones first. `prior`:
// the cost of texts in this language and encoding in bits (the rarer, the higher).
struct alphabet_model {
  const char* encoding;
  double prior;
  std::u32string_view letters, vowels;
  bool latin;
};
std::span<const alphabet_model> alphabet_models();

// An encoding with two-byte characters. `common`: frequent ideographs or syllables.
enum class cjk_layout { gb, big5, shift_jis, euc_jp, korean };
struct cjk_model {
  const char* encoding;
  double prior;
  cjk_layout layout;
  std::u32string_view common;
};
std::span<const cjk_model> cjk_models();

}  // namespace extract

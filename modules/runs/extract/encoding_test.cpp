#include "encoding.hpp"

#include <gtest/gtest.h>

#include <string>

#include "encoded_text.hpp"
#include "plain_text.hpp"
#include "transcode.hpp"

using namespace extract;

namespace {

struct sample {
  const char *encoding, *text;
};
constexpr const char* japanese =
    "日付,商品,数量\n一月,りんごとみかん,十二\n今日はとても良い天気なので、みんなで公園へ行きました。\n";
constexpr const char* simplified =
    "日期,商品,数量\n一月,苹果和橘子,十二\n今天天气很好,我们一起去公园散步,然后回家吃饭。\n";
constexpr const char* traditional =
    "日期,商品,數量\n一月,蘋果和橘子,十二\n今天天氣很好,我們一起去公園散步,然後回家吃飯。\n";
constexpr const char* korean =
    "날짜,상품,수량\n일월,사과와 귤,열둘\n오늘은 날씨가 아주 좋아서 모두 함께 공원에 갔습니다.\n";
constexpr const char* russian = "Дата;Товар;Количество\nСегодня очень хорошая погода, и мы все вместе пошли в парк.\n";
constexpr const char* polish =
    "Data;Towar;Ilość\nDziś jest bardzo ładna pogoda, więc poszliśmy wszyscy razem do łódzkiego parku źródlanego.\n";
constexpr const char* german =
    "Datum;Ware;Menge\nHeute ist das Wetter schön, darum gehen wir für zwölf € über die Straße.\n";
constexpr const char* greek = "Σήμερα ο καιρός είναι πολύ καλός, οπότε πήγαμε όλοι μαζί στο πάρκο.\n";
constexpr const char* turkish =
    "Bugün hava çok güzel, bu yüzden hep birlikte parka gittik. Işık, şeker, ağaç, İstanbul.\n";
constexpr const char* hebrew = "היום מזג האוויר יפה מאוד, אז הלכנו כולנו ביחד לפארק.\n";
constexpr const char* arabic = "الطقس جميل جدا اليوم، لذلك ذهبنا جميعا معا إلى الحديقة.\n";
constexpr const char* lithuanian =
    "Šiandien labai gražus oras, todėl visi kartu nuėjome į parką. Ąžuolas, žąsis, ėjo.\n";
constexpr const char* thai = "วันนี้อากาศดีมาก เราจึงไปสวนสาธารณะด้วยกัน\n";
constexpr const char* ukrainian =
    "Сьогодні дуже гарна погода, і ми всі разом пішли до парку. Її ґанок стоїть під дахом.\n";

TEST(encoding_test, texts_in_each_encoding_are_detected_and_converted) {
  for (const sample& s : {sample{"CP932", japanese},   {"EUC-JP", japanese},    {"ISO-2022-JP", japanese},
                          {"GBK", simplified},         {"GB18030", simplified}, {"BIG5", traditional},
                          {"BIG5-HKSCS", traditional}, {"EUC-KR", korean},      {"UHC", korean},
                          {"CP1251", russian},         {"KOI8-R", russian},     {"ISO-8859-5", russian},
                          {"CP866", russian},          {"KOI8-U", ukrainian},   {"CP1250", polish},
                          {"ISO-8859-2", polish},      {"CP1252", german},      {"ISO-8859-15", german},
                          {"ISO-8859-7", greek},       {"ISO-8859-9", turkish}, {"CP1254", turkish},
                          {"CP1255", hebrew},          {"ISO-8859-6", arabic},  {"CP1256", arabic},
                          {"ISO-8859-13", lithuanian}, {"CP1257", lithuanian},  {"TIS-620", thai},
                          {"UTF-16LE", russian},       {"UTF-16BE", japanese},  {"UTF-32LE", korean},
                          {"UTF-32BE", german}}) {
    const plain_text t = read_text(encoded(s.text, s.encoding), part::whole);
    EXPECT_EQ(t.text, s.text) << s.encoding;
    EXPECT_FALSE(t.encoding.empty()) << s.encoding;
    EXPECT_FALSE(t.damaged) << s.encoding;
  }
}

TEST(encoding_test, a_few_accented_letters_are_read_as_western_european) {
  for (const auto& [bytes, text] : {std::pair{"gr\xFC\xDF"
                                              "e;1",
                                              "grüße;1"},
                                    {"na\xEFve\n", "naïve\n"},
                                    {"caf\xE9\n", "café\n"},
                                    {"5 \x80\n", "5 €\n"},
                                    {"a \x93quoted\x94 word\x85\n", "a “quoted” word…\n"},
                                    {"\xA9 2024\n", "© 2024\n"},
                                    {"50 \xB0"
                                     "C\n",
                                     "50 °C\n"}})
    EXPECT_EQ(read_text(bytes, part::whole).text, text);
}

TEST(encoding_test, declarations_determine_the_encoding) {
  EXPECT_EQ(declared_encoding("<?xml version=\"1.0\" encoding='Shift_JIS'?><a/>"), "CP932");
  EXPECT_EQ(declared_encoding("<html><META http-equiv=Content-Type content=\"text/html; charset=iso-8859-1\">"),
            "CP1252");
  EXPECT_EQ(declared_encoding("<meta charset=gb2312>"), "GB18030");
  EXPECT_EQ(declared_encoding("@charset \"windows-1251\";"), "CP1251");
  EXPECT_EQ(declared_encoding("#!/usr/bin/python\n# -*- coding: euc-jp -*-\n"), "EUC-JP-MS");
  EXPECT_EQ(declared_encoding("a text about encoding"), "");
  EXPECT_EQ(
      read_text(encoded("<?xml version=\"1.0\" encoding=\"windows-1251\"?><a>Да</a>", "CP1251"), part::whole).text,
      "<?xml version=\"1.0\" encoding=\"windows-1251\"?><a>Да</a>");
  EXPECT_EQ(read_text(encoded("<meta charset=Shift_JIS>議事録", "CP932"), part::whole).text,
            "<meta charset=Shift_JIS>議事録");
  EXPECT_EQ(read_text("<meta charset=iso-8859-1>gr\xC3\xBC\xC3\x9F", part::whole).text, "<meta charset=iso-8859-1>grüß")
      << "valid UTF-8 overrides a declaration";
  EXPECT_EQ(read_text("<meta charset=x-unheard-of>caf\xE9", part::whole).text, "<meta charset=x-unheard-of>café");
}

TEST(encoding_test, a_csv_file_with_a_byte_order_mark_is_read) {
  const plain_text csv = read_text("\xEF\xBB\xBFname;city\nM\xC3\xBCller;K\xC3\xB6ln\n", part::whole);
  EXPECT_EQ(csv.text, "name;city\nMüller;Köln\n");
  EXPECT_EQ(csv.encoding, "");
}

TEST(encoding_test, conversion_is_strict) {
  EXPECT_FALSE(to_utf8("\xFC", "CP932", false)) << "incomplete character";
  EXPECT_EQ(to_utf8("a\xFC", "CP932", true), "a") << "an incomplete last character of a cut text is dropped";
  EXPECT_FALSE(to_utf8("\x81", "CP1252", false)) << "unassigned byte";
  EXPECT_FALSE(to_utf8("a", "NO-SUCH-ENCODING", false));
  EXPECT_FALSE(to_utf8("a\x90", "ISO-8859-2", false)) << "control character";
}

}  // namespace

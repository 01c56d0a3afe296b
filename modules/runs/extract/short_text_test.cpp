#include "short_text.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "encoded_text.hpp"
#include "plain_text.hpp"

using namespace extract;

namespace {

enum class expected { read, unknown };
struct sample {
  const char *encoding, *text;
  expected is = expected::read;
};

constexpr sample samples[] = {
    {"CP1252", "Name;Straße\nMüller;Hauptstraße 5\n"}, {"CP1252", "café\n"}, {"CP1252", "señor,año\n"}, {"CP1252", "Preis;5 €\n"}, {"CP1252", "São Paulo;José\n"},
    {"CP1252", "Prénom;Nom;Téléphone\n"}, {"CP1252", "naïve\n"}, {"CP1252", "Málaga;Córdoba\n"}, {"CP1252", "København;Århus\n"}, {"CP1252", "déjà vu\n"},
    {"CP1252", "“quoted” – it’s\n"}, {"CP1252", "Größe;Länge\n"}, {"CP1252", "perché;città\n"}, {"CP1252", "même\n", expected::unknown}, {"CP1252", "Malmö\n"},
    {"ISO-8859-15", "cœur;sœur\n"}, {"ISO-8859-15", "Preis: 5 €\n"}, {"ISO-8859-15", "Größe\n"},
    {"CP1250", "Łódź;Kraków;Gdańsk\n"}, {"CP1250", "Dvořák;Příjmení\n"}, {"CP1250", "čeština\n"}, {"CP1250", "Imię;Nazwisko;Województwo\n", expected::unknown}, {"CP1250", "Székesfehérvár;Győr\n", expected::unknown},
    {"CP1250", "koński\n", expected::unknown}, {"CP1250", "čaj\n", expected::unknown}, {"CP1250", "Jméno;Příjmení;Město\n"}, {"CP1250", "święto\n", expected::unknown}, {"CP1250", "erdő\n", expected::unknown}, {"CP1250", "Šibenik;Čakovec\n"},
    {"ISO-8859-2", "Łódź;Świdnica\n"}, {"ISO-8859-2", "Šťastný\n", expected::unknown},
    {"CP1251", "Дата;Сумма\n2024;100\n"}, {"CP1251", "Привет\n"}, {"CP1251", "Иванов Иван\n"}, {"CP1251", "г. Москва, ул. Ленина, 5\n"}, {"CP1251", "Имя,Фамилия\n"},
    {"CP1251", "Да\n"}, {"CP1251", "Київ;Львів\n"}, {"CP1251", "ЦЕНА;КОЛИЧЕСТВО\n"},
    {"KOI8-R", "Дата;Сумма\n"}, {"KOI8-R", "Привет\n"}, {"KOI8-R", "Иванов Иван\n"}, {"KOI8-R", "город Москва\n"}, {"KOI8-R", "дата\n", expected::unknown},
    {"CP1253", "Όνομα;Ημερομηνία\n"}, {"CP1253", "Αθήνα\n"}, {"CP1253", "καλημέρα\n"}, {"CP1253", "Γιώργος Παπαδόπουλος\n"}, {"CP1253", "ΑΘΗΝΑ\n", expected::unknown},
    {"CP1254", "İstanbul;Ankara\n", expected::unknown}, {"CP1254", "Adı;Soyadı;Şehir\n"}, {"CP1254", "Ağrı\n", expected::unknown}, {"CP1254", "Beşiktaş\n", expected::unknown}, {"CP1254", "Işık Güneş\n"},
    {"CP1255", "שם;כתובת\n"}, {"CP1255", "שלום\n", expected::unknown}, {"CP1255", "תל אביב\n"}, {"CP1255", "תאריך,סכום\n"},
    {"CP1256", "الاسم;العنوان\n"}, {"CP1256", "محمد علي\n"}, {"CP1256", "القاهرة\n"}, {"CP1256", "التاريخ,المبلغ\n"},
    {"GBK", "日期,金额\n2024,100\n"}, {"GBK", "姓名,电话\n"}, {"GBK", "北京市海淀区\n"}, {"GBK", "张伟\n", expected::unknown}, {"GBK", "商品,数量,单价\n"}, {"GBK", "备注\n"}, {"GBK", "上海市浦东新区\n"},
    {"BIG5", "日期,金額\n"}, {"BIG5", "姓名,電話,地址\n"}, {"BIG5", "台北市\n"}, {"BIG5", "陳志明\n"}, {"BIG5", "商品,數量,單價\n"},
    {"CP932", "日付,金額\n"}, {"CP932", "ﾅﾏｴ,ｼﾞｭｳｼｮ\n"}, {"CP932", "ﾔﾏﾀﾞ ﾀﾛｳ\n"}, {"CP932", "議事録\n"}, {"CP932", "東京都千代田区\n"}, {"CP932", "名前,住所,電話番号\n"}, {"CP932", "カタカナ\n"},
    {"CP932", "こんにちは\n"}, {"CP932", "ﾄｳｷｮｳ\n", expected::unknown}, {"CP932", "氏名,ﾌﾘｶﾞﾅ\n"},
    {"EUC-JP", "日付,金額\n"}, {"EUC-JP", "名前,住所\n"}, {"EUC-JP", "こんにちは\n"}, {"EUC-JP", "東京都\n"}, {"EUC-JP", "カタカナ\n"},
    {"EUC-KR", "이름,주소\n"}, {"EUC-KR", "서울특별시 강남구\n"}, {"EUC-KR", "날짜,금액\n"}, {"EUC-KR", "김철수\n"}, {"EUC-KR", "안녕하세요\n"}, {"EUC-KR", "상품,수량,단가\n"},
    {"CP1252", "Élève;École\n"}, {"CP1252", "François Lefèvre\n"}, {"CP1252", "Ñandú\n"}, {"CP1252", "Tõnu\n", expected::unknown}, {"CP1252", "Bjørn Ångström\n"},
    {"CP1252", "Ação;Descrição\n"}, {"CP1252", "às 15h\n"}, {"CP1252", "Él\n"}, {"CP1252", "ÜBERSICHT\n"}, {"CP1252", "GRÖSSE\n"},
    {"CP1252", "Þór Jónsson\n", expected::unknown}, {"CP1252", "það\n", expected::unknown}, {"CP1252", "Türkçe\n"}, {"CP1252", "è\n", expected::unknown}, {"CP1252", "très\n"}, {"CP1252", "où\n", expected::unknown},
    {"CP1252", "œuvre\n", expected::unknown}, {"CP1252", "¿Qué tal?\n", expected::unknown}, {"CP1252", "1 ½ kg\n"}, {"CP1252", "£5\n", expected::unknown}, {"CP1252", "Zürich – Genève\n", expected::unknown},
    {"CP1252", "Artículo;Cantidad;Precio (€)\n"}, {"CP1252", "N°;Désignation;Quantité\n"}, {"ISO-8859-15", "œuvre\n", expected::unknown}, {"ISO-8859-15", "Žiga\n", expected::unknown},
    {"ISO-8859-15", "Total;12 €\n"}, {"CP1250", "Žižek\n"}, {"CP1250", "Ľubomír\n", expected::unknown}, {"CP1250", "Bucureşti\n", expected::unknown}, {"CP1250", "Iaşi\n", expected::unknown},
    {"CP1250", "Gdańsk\n", expected::unknown}, {"CP1250", "Łukasz\n", expected::unknown}, {"CP1250", "Ján Kováč\n", expected::unknown}, {"CP1250", "Müller\n"}, {"CP1250", "Ŕ\n", expected::unknown}, {"CP1250", "Brno-střed\n", expected::unknown},
    {"CP1250", "Összeg;Dátum\n"}, {"CP1250", "Név;Cím\n"}, {"CP1250", "Đorđe Đurić\n", expected::unknown}, {"ISO-8859-2", "Jiří Novák\n"}, {"ISO-8859-2", "żółć\n", expected::unknown},
    {"ISO-8859-2", "ulica Wąska\n"}, {"CP1251", "нет\n", expected::unknown}, {"CP1251", "ул.\n", expected::unknown}, {"CP1251", "ООО Ромашка\n"}, {"CP1251", "№ 5\n", expected::unknown}, {"CP1251", "Адрес\n"},
    {"CP1251", "Б\n", expected::unknown}, {"CP1251", "София\n"}, {"CP1251", "Београд\n"}, {"CP1251", "РОССИЯ\n"}, {"CP1251", "Цена, руб.\n", expected::unknown}, {"CP1251", "Щёлково\n"},
    {"KOI8-R", "нет\n", expected::unknown}, {"KOI8-R", "ООО\n", expected::unknown}, {"KOI8-R", "МОСКВА\n", expected::unknown}, {"KOI8-R", "Адрес;Телефон\n"}, {"KOI8-R", "цена\n", expected::unknown}, {"KOI8-R", "Сергей\n"},
    {"KOI8-R", "ул. Мира\n"}, {"KOI8-R", "товар\n"}, {"CP1253", "Τιμή;Ποσό\n"}, {"CP1253", "ΟΝΟΜΑ\n", expected::unknown}, {"CP1253", "ναι\n", expected::unknown}, {"CP1253", "Διεύθυνση\n", expected::unknown},
    {"CP1253", "ΕΛΛΑΔΑ\n", expected::unknown}, {"CP1253", "Πάτρα\n"}, {"CP1254", "şeker\n", expected::unknown}, {"CP1254", "Iğdır\n", expected::unknown}, {"CP1254", "Çağrı Öztürk\n"}, {"CP1254", "Muğla\n", expected::unknown},
    {"CP1254", "GÜNEŞ\n"}, {"CP1254", "İzmir;Şube\n"}, {"CP1255", "כן\n", expected::unknown}, {"CP1255", "משה כהן\n"}, {"CP1255", "ירושלים\n"}, {"CP1255", "דוד\n", expected::unknown},
    {"CP1255", "סכום\n", expected::unknown}, {"CP1256", "نعم\n"}, {"CP1256", "سعر\n", expected::unknown}, {"CP1256", "الرياض\n"}, {"CP1256", "فاطمة\n"}, {"CP1256", "الكمية;السعر\n"},
    {"GBK", "是\n", expected::unknown}, {"GBK", "王芳\n"}, {"GBK", "单位:元\n"}, {"GBK", "深圳市腾讯计算机系统有限公司\n"}, {"GBK", "部门,职务\n"}, {"GBK", "男\n", expected::unknown}, {"GBK", "鼠标,键盘\n", expected::unknown},
    {"GBK", "葡萄\n", expected::unknown}, {"GBK", "编号\n"}, {"GBK", "欧阳修\n"}, {"GBK", "税率\n"}, {"GBK", "陕西西安\n"}, {"GBK", "ID,名称\n1,铅笔\n"}, {"GBK", "龚琳娜\n", expected::unknown},
    {"BIG5", "是\n", expected::unknown}, {"BIG5", "編號\n"}, {"BIG5", "林淑芬\n"}, {"BIG5", "鉛筆,橡皮擦\n"}, {"BIG5", "香港九龍\n"}, {"BIG5", "部門,職稱\n"}, {"BIG5", "新竹縣\n"},
    {"BIG5", "葡萄\n", expected::unknown}, {"BIG5", "備註\n", expected::unknown}, {"BIG5", "男,女\n", expected::unknown}, {"CP932", "鉛筆\n"}, {"CP932", "鈴木一郎\n"}, {"CP932", "ｱﾄﾞﾚｽ\n"}, {"CP932", "ﾃｽﾄ\n"},
    {"CP932", "ｶﾌﾞｼｷｶﾞｲｼｬ\n"}, {"CP932", "ｲ\n", expected::unknown}, {"CP932", "株式会社\n"}, {"CP932", "合計\n"}, {"CP932", "はい\n"}, {"CP932", "ｻﾄｳ ﾊﾅｺ\n", expected::unknown}, {"CP932", "葡萄\n"},
    {"CP932", "ｱ,ｲ,ｳ\n", expected::unknown}, {"CP932", "ｵｵｻｶ\n", expected::unknown}, {"EUC-JP", "合計\n"}, {"EUC-JP", "はい\n", expected::unknown}, {"EUC-JP", "鈴木\n"}, {"EUC-JP", "株式会社\n"}, {"EUC-JP", "住所\n", expected::unknown},
    {"EUC-JP", "備考\n"}, {"EUC-JP", "ノート\n"}, {"EUC-JP", "葡萄\n", expected::unknown}, {"EUC-JP", "氏名\n", expected::unknown}, {"EUC-JP", "大阪\n", expected::unknown}, {"EUC-KR", "예\n", expected::unknown}, {"EUC-KR", "비고\n"},
    {"EUC-KR", "박지성\n"}, {"EUC-KR", "연필\n"}, {"EUC-KR", "합계\n"}, {"EUC-KR", "부산광역시 해운대구\n"}, {"EUC-KR", "포도\n"}, {"EUC-KR", "주식회사\n"},
    {"EUC-KR", "최영희\n"}, {"EUC-KR", "남\n", expected::unknown},
};

TEST(short_text_test, no_text_is_read_in_a_wrong_encoding) {
  for (const sample& s : samples) {
    const plain_text t = read_text(encoded(s.text, s.encoding), part::whole);
    if (s.is == expected::unknown) EXPECT_EQ(t.is, plain_text::outcome::unknown_encoding) << s.encoding << " " << s.text << " is read as " << t.text;
    else EXPECT_EQ(t.text, s.text) << s.encoding;
  }
}

}  // namespace

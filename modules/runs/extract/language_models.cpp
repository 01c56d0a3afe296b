#include "language_models.hpp"

#include <array>

namespace extract {
namespace {

constexpr std::u32string_view latin_vowels = U"aeiouyáàâäãåăąæéèêëěęíìîïıóòôöõőøœúùûüůűýÿ";

constexpr std::u32string_view french = U"éèàêçâôîùûëïœ«", german = U"üäöß", spanish = U"óíáéñúü¿¡",
                              portuguese = U"ãçáéóíêõâúàô", italian = U"àèùòìé", nordic = U"äåöøæéü",
                              icelandic = U"áíðéóöæúþý", polish = U"łąęóśżćńź", czech = U"áíéěšřčžýůúťňďó",
                              slovak = U"áíčéšžýúľťňôďäóĺŕ", hungarian = U"áéöóőüíúű", romanian = U"ăîâşţ",
                              croatian = U"čšžćđ", turkish = U"ışüğçöİâî", baltic = U"ėšųžįąčūęõäöüāīēļņķģ";

constexpr std::u32string_view russian = U"оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
                              ukrainian = U"оанівиертслкдумпязьбгйчхїцєжшющґф",
                              serbian = U"аоиенрсјтуквдмплзбгчшћцњжђљхџф", cyrillic_vowels = U"аеёиоуыэюяіїєьъ";
constexpr std::u32string_view greek = U"αοιετσνηυρπκμλςωγίόάήδύέώθχφβξζψϊϋΐΰ", greek_vowels = U"αεηιουωάέήίόύώϊϋΐΰ";
constexpr std::u32string_view hebrew = U"יוהלאתרבשמןכדנםעחקספגטצזךץף", arabic = U"الينمرتوبةعدسفهكقأحجشطصخإىذضزءئغثؤآظ",
                              thai = U"านรกอเงมยวลีด่ทสต้ะัปบคหไพแจชใขโ์ผูิำืึุถซศณ็ฟธภษ";

constexpr std::array models{
    alphabet_model{"CP1252", 0, french, latin_vowels, true},
    alphabet_model{"CP1252", 0, german, latin_vowels, true},
    alphabet_model{"CP1252", 0, spanish, latin_vowels, true},
    alphabet_model{"CP1252", 0, portuguese, latin_vowels, true},
    alphabet_model{"CP1252", 0, italian, latin_vowels, true},
    alphabet_model{"CP1252", 1, nordic, latin_vowels, true},
    alphabet_model{"CP1252", 5, icelandic, latin_vowels, true},
    alphabet_model{"ISO-8859-15", 4, french, latin_vowels, true},
    alphabet_model{"ISO-8859-15", 4, german, latin_vowels, true},
    alphabet_model{"CP1250", 3, polish, latin_vowels, true},
    alphabet_model{"CP1250", 3, czech, latin_vowels, true},
    alphabet_model{"CP1250", 4, slovak, latin_vowels, true},
    alphabet_model{"CP1250", 3, hungarian, latin_vowels, true},
    alphabet_model{"CP1250", 4, romanian, latin_vowels, true},
    alphabet_model{"CP1250", 4, croatian, latin_vowels, true},
    alphabet_model{"ISO-8859-2", 5, polish, latin_vowels, true},
    alphabet_model{"ISO-8859-2", 5, czech, latin_vowels, true},
    alphabet_model{"ISO-8859-2", 5, hungarian, latin_vowels, true},
    alphabet_model{"CP1254", 3, turkish, latin_vowels, true},
    alphabet_model{"CP1257", 5, baltic, latin_vowels, true},
    alphabet_model{"CP1251", 2, russian, cyrillic_vowels, false},
    alphabet_model{"CP1251", 4, ukrainian, cyrillic_vowels, false},
    alphabet_model{"CP1251", 6, serbian, cyrillic_vowels, false},
    alphabet_model{"KOI8-R", 4, russian, cyrillic_vowels, false},
    alphabet_model{"KOI8-U", 6, ukrainian, cyrillic_vowels, false},
    alphabet_model{"CP866", 7, russian, cyrillic_vowels, false},
    alphabet_model{"ISO-8859-5", 7, russian, cyrillic_vowels, false},
    alphabet_model{"CP1253", 3, greek, greek_vowels, false},
    alphabet_model{"ISO-8859-7", 4, greek, greek_vowels, false},
    alphabet_model{"CP1255", 3, hebrew, {}, false},
    alphabet_model{"CP1256", 3, arabic, {}, false},
    alphabet_model{"ISO-8859-6", 6, arabic, {}, false},
    alphabet_model{"CP874", 5, thai, {}, false},
};

constexpr std::u32string_view simplified =
    U"的一是不了人在有我他这为之大来以个中上们到说时国和地要就出会可也你对生能而子那得于着下自年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从"
    U"想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及"
    U"比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思"
    U"王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔编号姓称址价格额单位邮箱电话备注联系订货商品客户姓名收入支出部门职务性别日期金额数量税率合计城市省县街"
    U"李伟刘陈杨黄赵吴周徐孙朱胡郭林罗郑梁谢宋唐娜芳敏静秀丽强磊军洋勇艳杰娟涛超明霞平刚桂英华京沪广州深圳杭南浙江苏川湖朝阳浦海淀苹橘";
constexpr std::u32string_view traditional =
    U"的一是不了人在有我他這為之大來以個中上們到說時國和地要就出會可也你對生能而子那得於著下自年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從"
    U"想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及"
    U"比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思"
    U"王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運編號姓稱址價額單郵箱備註聯絡訂貨商客戶收支職務性別稅率縣街巷弄樓臺台灣香港九龍灣高雄桃園竹"
    U"李偉劉陳楊黃趙吳周徐孫朱胡郭林羅鄭梁謝宋唐志明淑芬美玲雅婷怡君俊傑家豪冠宇蔡許曾賴蘋橘";
constexpr std::u32string_view kanji =
    U"日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代"
    U"明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住無真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英医仕去味写字答夜音注"
    U"帰古歌買悪図週室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉貸堂鳥飯勉冬昼茶弟牛魚兄犬妹姉漢付数量商議録姓氏番号郵便所県市区丁目単価税込合計売上請求書個件備考部署株式客様価格額在庫担当電話住性"
    U"佐藤鈴木橋渡辺伊村林加吉斎清松井崎池阿森太郎美恵智健翔京都府大阪神奈横浜千葉埼玉札幌福岡沢谷良天晴園公";
constexpr std::u32string_view hangul =
    U"이다는을가에의하고한지기를로사은도인어시자리나서대해수일정보아으있그들과만게부제전상원라스장주여것공성면생경구동소우유안조비무위었신니모요적세진연년월화개중오물교국관내문회치마트실간방명학선까발계분호단"
    U"용설습합결거재와미음식산체민금력업역출할당행업추드품차남현번건터직통된불러반바말양심운영강속않입급천외작광질형후약투과임청판변참준육배량날짜격데없같때님너코크프타파포레티노더두르며야던네네또김박최윤순철숙희태"
    U"석준혁권황홍은영옥복덕승종필휘취출예울산평창북동메카객이름주소전화번호가격금액합계비고수량상품제품거래처담당자우편이메일구분내역입고출고서울부산대구인천광주경기도시군읍면길로오늘";

constexpr std::array cjk{
    cjk_model{"GB18030", 2, cjk_layout::gb, simplified}, cjk_model{"BIG5-HKSCS", 3, cjk_layout::big5, traditional},
    cjk_model{"CP932", 2, cjk_layout::shift_jis, kanji}, cjk_model{"EUC-JP-MS", 4, cjk_layout::euc_jp, kanji},
    cjk_model{"UHC", 2, cjk_layout::korean, hangul},
};

}  // namespace

std::span<const alphabet_model> alphabet_models() {
  return models;
}
std::span<const cjk_model> cjk_models() {
  return cjk;
}

}  // namespace extract

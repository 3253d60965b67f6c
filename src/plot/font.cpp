// The outlines are the Hershey Fonts' "simplex sans", originally created by Dr. A. V. Hershey while
// working at the U. S. National Bureau of Standards; the encoding is by James Hurt, Cognition, Inc.
#include "plot/font.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace soft {
namespace {

// From space to tilde. Two letters for a point, 'R' being 0: first the left and right edge, then
// the pen's path; " R" lifts the pen.
constexpr std::array<std::string_view, 95> kGlyphs{
    // clang-format off
    R"~(JZ)~",
    R"~(MWRFRT RRYQZR[SZRY)~",
    R"~(JZNFNM RVFVM)~",
    R"~(H]SBLb RYBRb RLOZO RKUYU)~",
    R"~(H\PBP_ RTBT_ RYIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX)~",
    R"~(F^[FI[ RNFPHPJOLMMKMIKIIJGLFNFPGSHVHYG[F RWTUUTWTYV[X[ZZ[X[VYTWT)~",
    R"~(E_\O\N[MZMYNXPVUTXRZP[L[JZIYHWHUISJRQNRMSKSIRGPFNGMIMKNNPQUXWZY[[[\Z\Y)~",
    R"~(MWRHQGRFSGSIRKQL)~",
    R"~(KYVBTDRGPKOPOTPYR]T`Vb)~",
    R"~(KYNBPDRGTKUPUTTYR]P`Nb)~",
    R"~(JZRLRX RMOWU RWOMU)~",
    R"~(E_RIR[ RIR[R)~",
    R"~(NVSWRXQWRVSWSYQ[)~",
    R"~(E_IR[R)~",
    R"~(NVRVQWRXSWRV)~",
    R"~(G][BIb)~",
    R"~(H\QFNGLJKOKRLWNZQ[S[VZXWYRYOXJVGSFQF)~",
    R"~(H\NJPISFS[)~",
    R"~(H\LKLJMHNGPFTFVGWHXJXLWNUQK[Y[)~",
    R"~(H\MFXFRNUNWOXPYSYUXXVZS[P[MZLYKW)~",
    R"~(H\UFKTZT RUFU[)~",
    R"~(H\WFMFLOMNPMSMVNXPYSYUXXVZS[P[MZLYKW)~",
    R"~(H\XIWGTFRFOGMJLOLTMXOZR[S[VZXXYUYTXQVOSNRNOOMQLT)~",
    R"~(H\YFO[ RKFYF)~",
    R"~(H\PFMGLILKMMONSOVPXRYTYWXYWZT[P[MZLYKWKTLRNPQOUNWMXKXIWGTFPF)~",
    R"~(H\XMWPURRSQSNRLPKMKLLINGQFRFUGWIXMXRWWUZR[P[MZLX)~",
    R"~(NVROQPRQSPRO RRVQWRXSWRV)~",
    R"~(NVROQPRQSPRO RSWRXQWRVSWSYQ[)~",
    R"~(F^ZIJRZ[)~",
    R"~(E_IO[O RIU[U)~",
    R"~(F^JIZRJ[)~",
    R"~(I[LKLJMHNGPFTFVGWHXJXLWNVORQRT RRYQZR[SZRY)~",
    R"~(E`WNVLTKQKOLNMMPMSNUPVSVUUVS RQKOMNPNSOUPV RWKVSVUXVZV\T]Q]O\L[JYHWGTFQFNGLHJJILHOHRIUJWLYNZQ[T[WZYYZX RXKWSWUXV)~",
    R"~(I[RFJ[ RRFZ[ RMTWT)~",
    R"~(G\KFK[ RKFTFWGXHYJYLXNWOTP RKPTPWQXRYTYWXYWZT[K[)~",
    R"~(H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZV)~",
    R"~(G\KFK[ RKFRFUGWIXKYNYSXVWXUZR[K[)~",
    R"~(H[LFL[ RLFYF RLPTP RL[Y[)~",
    R"~(HZLFL[ RLFYF RLPTP)~",
    R"~(H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZVZS RUSZS)~",
    R"~(G]KFK[ RYFY[ RKPYP)~",
    R"~(NVRFR[)~",
    R"~(JZVFVVUYTZR[P[NZMYLVLT)~",
    R"~(G\KFK[ RYFKT RPOY[)~",
    R"~(HYLFL[ RL[X[)~",
    R"~(F^JFJ[ RJFR[ RZFR[ RZFZ[)~",
    R"~(G]KFK[ RKFY[ RYFY[)~",
    R"~(G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF)~",
    R"~(G\KFK[ RKFTFWGXHYJYMXOWPTQKQ)~",
    R"~(G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF RSWY])~",
    R"~(G\KFK[ RKFTFWGXHYJYLXNWOTPKP RRPY[)~",
    R"~(H\YIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX)~",
    R"~(JZRFR[ RKFYF)~",
    R"~(G]KFKULXNZQ[S[VZXXYUYF)~",
    R"~(I[JFR[ RZFR[)~",
    R"~(F^HFM[ RRFM[ RRFW[ R\FW[)~",
    R"~(H\KFY[ RYFK[)~",
    R"~(I[JFRPR[ RZFRP)~",
    R"~(H\YFK[ RKFYF RK[Y[)~",
    R"~(KYOBOb RPBPb ROBVB RObVb)~",
    R"~(KYKFY^)~",
    R"~(KYTBTb RUBUb RNBUB RNbUb)~",
    R"~(JZRDJR RRDZR)~",
    R"~(I[Ib[b)~",
    R"~(NVSKQMQORPSORNQO)~",
    R"~(I\XMX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(H[LFL[ RLPNNPMSMUNWPXSXUWXUZS[P[NZLX)~",
    R"~(I[XPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(I\XFX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(I[LSXSXQWOVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(MYWFUFSGRJR[ ROMVM)~",
    R"~(I\XMX]W`VaTbQbOa RXPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(I\MFM[ RMQPNRMUMWNXQX[)~",
    R"~(NVQFRGSFREQF RRMR[)~",
    R"~(MWRFSGTFSERF RSMS^RaPbNb)~",
    R"~(IZMFM[ RWMMW RQSX[)~",
    R"~(NVRFR[)~",
    R"~(CaGMG[ RGQJNLMOMQNRQR[ RRQUNWMZM\N]Q][)~",
    R"~(I\MMM[ RMQPNRMUMWNXQX[)~",
    R"~(I\QMONMPLSLUMXOZQ[T[VZXXYUYSXPVNTMQM)~",
    R"~(H[LMLb RLPNNPMSMUNWPXSXUWXUZS[P[NZLX)~",
    R"~(I\XMXb RXPVNTMQMONMPLSLUMXOZQ[T[VZXX)~",
    R"~(KXOMO[ ROSPPRNTMWM)~",
    R"~(J[XPWNTMQMNNMPNRPSUTWUXWXXWZT[Q[NZMX)~",
    R"~(MYRFRWSZU[W[ ROMVM)~",
    R"~(I\MMMWNZP[S[UZXW RXMX[)~",
    R"~(JZLMR[ RXMR[)~",
    R"~(G]JMN[ RRMN[ RRMV[ RZMV[)~",
    R"~(J[MMX[ RXMM[)~",
    R"~(JZLMR[ RXMR[P_NaLbKb)~",
    R"~(J[XMM[ RMMXM RM[X[)~",
    R"~(KYTBRCQDPFPHQJRKSMSOQQ RRCQEQGRISJTLTNSPORSTTVTXSZR[Q]Q_Ra RQSSUSWRYQZP\P^Q`RaTb)~",
    R"~(NVRBRb)~",
    R"~(KYPBRCSDTFTHSJRKQMQOSQ RRCSESGRIQJPLPNQPURQTPVPXQZR[S]S_Ra RSSQUQWRYSZT\T^S`RaPb)~",
    R"~(F^IUISJPLONOPPTSVTXTZS[Q RISJQLPNPPQTTVUXUZT[Q[O)~",
    // clang-format on
};
constexpr double kUnitsPerEm = 30;  // capitals are 21 high
constexpr int kBaseline = 9;        // units below 0

std::string_view glyph_of(char c) {
  const auto index = static_cast<size_t>(static_cast<unsigned char>(c)) - ' ';
  return kGlyphs[index < kGlyphs.size() ? index : '?' - ' '];
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

int units(char c) { return c - 'R'; }

double advance_of(std::string_view glyph) { return units(glyph[1]) - units(glyph[0]); }

void append_glyph(std::string_view glyph, double x, double scale,
                  std::vector<std::vector<Point>>& paths) {
  paths.emplace_back();
  for (size_t i = 2; i + 1 < glyph.size(); i += 2) {
    if (glyph[i] == ' ') {
      paths.emplace_back();
      continue;
    }
    paths.back().push_back({x + scale * (units(glyph[i]) - units(glyph[0])),
                            scale * (units(glyph[i + 1]) - kBaseline)});
  }
}

}  // namespace

std::vector<std::vector<Point>> text_strokes(const std::string& text, double size) {
  const double scale = size / kUnitsPerEm;
  std::vector<std::vector<Point>> paths;
  double x = 0;
  for (const char c : text) {
    if (continues_character(c)) continue;
    append_glyph(glyph_of(c), x, scale, paths);
    x += scale * advance_of(glyph_of(c));
  }
  return paths;
}

double text_width(const std::string& text, double size) {
  double width = 0;
  for (const char c : text) {
    if (!continues_character(c)) width += advance_of(glyph_of(c)) * size / kUnitsPerEm;
  }
  return width;
}

}  // namespace soft

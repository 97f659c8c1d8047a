/**
 * What characters are, and which ones look alike.
 *
 * Written by clients/vectors/tables.py. Facts of the Unicode Character Database (characters of Unicode 14.0) and of the
 * confusables of Unicode Security Mechanisms (UTS 39, as of Unicode 13.0). Copyright of the data files: Unicode, Inc.;
 * they are used under the Unicode License, https://www.unicode.org/license.txt.
 */

/** What a character may be: refused, another sign, a space, a mark above or below others, or a script's letter. */
export const CLASSES = `\
refused other space mark emoji Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak
Bengali Bhaiksuki Bopomofo Brahmi Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee
Chorasmian Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan
Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi
Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inscriptional_Pahlavi
Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi
Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen
Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro
Multani Myanmar Nabataean Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian
Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage
Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra
Sharada Shavian Siddham Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le
Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi
Wancho Warang_Citi Yezidi Yi Zanabazar_Square
`;

/** All code points in order: how many follow each other and the number of what they are, in base 36. */
export const RUNS = `\
w.0 1.2 w.1 q.1z 6.1 q.1z 4.1 x.0 1.2 8.1 1.4 1.1z 2.1 1.0 1.4 b.1 1.1z 5.1 n.1z 1.1 v.1z 1.1 ch.1z 13.1 5.1z r.1 27.3
1.0 w.3 4.1a 2.1 2.1a 2.0 4.1a 1.1 1.1a 4.0 2.1 1.1a 1.1 3.1a 1.0 1.1a 1.0 k.1a 1.0 1r.1a e.s 6.1a 1.1 9.1a 3m.w 1.1
7.3 4m.w 1.0 12.9 2.0 1.9 6.1 15.9 2.1 2.0 3.1 1.0 19.3 1.1 1.3 1.1 2.3 1.1 2.3 1.1 1.3 8.0 r.1j 4.0 4.1j 2.1 h.0 a.1
b.3 1.1 1.0 3.1 w.8 1.1 a.8 l.3 e.1 2.8 1.3 2r.8 1.1 1.8 7.3 1.0 1.1 6.3 2.8 2.3 1.1 4.3 2.8 a.1 3.8 2.1 1.8 e.1 2.0
1.3t 1.3 u.3t r.3 2.0 3.3t 1c.8 12.44 b.3 1.44 e.0 a.1 x.2t 9.3 2.2t 4.1 1.2t 2.0 1.3 2.1 m.3i 4.3 1.3i 9.3 1.3i 3.3
1.3i 5.3 2.0 f.1 1.0 p.2a 3.3 2.0 1.1 1.0 b.3t 5.0 o.8 1.1 6.8 9.0 8.3 16.8 o.3 1.0 w.3 1j.y 1.3 1.y 1.3 4.y 8.3 4.y
1.3 3.y 7.3 a.y 2.3 d.1 f.y 1.f 1.3 2.f 1.0 8.f 2.0 2.f 2.0 m.f 1.0 7.f 1.0 1.f 3.0 4.f 2.0 1.3 4.f 4.3 2.0 2.f 2.0
2.f 1.3 1.f 8.0 1.f 4.0 2.f 1.0 3.f 2.3 2.0 a.1 2.f a.1 1.f 1.1 1.3 2.0 2.3 1.1d 1.0 6.1d 4.0 2.1d 2.0 m.1d 1.0 7.1d
1.0 2.1d 1.0 2.1d 1.0 2.1d 2.0 1.3 1.0 3.1d 2.3 4.0 2.3 2.0 3.3 3.0 1.3 7.0 4.1d 1.0 1.1d 7.0 a.1 2.3 3.1d 1.3 1.1 a.0
2.3 1.1b 1.0 9.1b 1.0 3.1b 1.0 m.1b 1.0 7.1b 1.0 2.1b 1.0 5.1b 2.0 1.3 4.1b 5.3 1.0 2.3 1.1b 1.0 2.1b 1.3 2.0 1.1b f.0
2.1b 2.3 2.0 c.1 7.0 1.1b 6.3 1.0 1.3 2.37 1.0 8.37 2.0 2.37 2.0 m.37 1.0 7.37 1.0 2.37 1.0 5.37 2.0 1.3 2.37 1.3 1.37
4.3 2.0 2.37 2.0 2.37 1.3 7.0 2.3 1.37 4.0 2.37 1.0 3.37 2.3 2.0 b.1 1.37 6.1 a.0 1.3 1.40 1.0 6.40 3.0 3.40 1.0 4.40
3.0 2.40 1.0 1.40 1.0 2.40 3.0 2.40 3.0 3.40 3.0 c.40 4.0 2.40 1.3 2.40 3.0 3.40 1.0 3.40 1.3 2.0 1.40 6.0 1.40 e.0
l.1 5.0 1.3 3.43 1.3 8.43 1.0 3.43 1.0 n.43 1.0 g.43 2.0 1.3 1.43 3.3 4.43 1.0 3.3 1.0 4.3 7.0 2.3 1.0 3.43 2.0 1.43
2.0 2.43 2.3 2.0 a.1 7.0 9.1 1.1q 1.3 2.1q 1.1 8.1q 1.0 3.1q 1.0 n.1q 1.0 a.1q 1.0 5.1q 2.0 1.3 2.1q 1.3 5.1q 1.0 1.3
2.1q 1.0 2.1q 2.3 7.0 2.1q 6.0 2.1q 1.0 2.1q 2.3 2.0 a.1 1.0 2.1q d.0 2.3 b.29 1.0 3.29 1.0 15.29 2.3 4.29 4.3 1.0
3.29 1.0 3.29 1.3 1.29 1.1 4.0 4.29 7.1 3.29 2.3 2.0 k.1 6.29 1.0 1.3 2.3n 1.0 i.3n 3.0 o.3n 1.0 9.3n 1.0 1.3n 2.0
7.3n 3.0 1.3 4.0 3.3n 3.3 1.0 1.3 1.0 8.3n 6.0 a.1 2.0 2.3n 1.1 c.0 1c.45 1.3 2.45 7.3 4.0 1.1 7.45 8.3 d.1 11.0 2.1y
1.0 1.1y 1.0 5.1y 1.0 o.1y 1.0 1.1y 1.0 a.1y 1.3 2.1y 9.3 1.1y 2.0 5.1y 1.0 1.1y 1.0 6.3 2.0 a.1 2.0 4.1y w.0 1.46 n.1
2.3 r.1 1.3 1.1 1.3 1.1 1.3 4.1 a.46 1.0 10.46 4.0 e.3 1.46 5.3 1.1 2.3 5.46 b.3 1.0 10.3 1.0 8.1 1.3 6.1 1.0 d.1 11.0
19.2o 4.3 1.2o 6.3 1.2o 2.3 2.2o 2.3 1.2o g.1 8.2o 2.3 4.2o 3.3 g.2o 4.3 d.2o 1.3 2.2o 2.3 6.2o 1.3 2.2o a.1 3.2o 1.3
2.1 12.16 1.0 1.16 5.0 1.16 2.0 17.16 1.1 4.16 2n.1f 2.0 4f.1f 21.15 1.0 4.15 2.0 7.15 1.0 1.15 1.0 4.15 2.0 15.15 1.0
4.15 2.0 x.15 1.0 4.15 2.0 7.15 1.0 1.15 1.0 4.15 2.0 f.15 1.0 1l.15 1.0 4.15 2.0 1v.15 2.0 3.3 t.1 3.0 g.15 a.1 6.0
2e.q 2.0 6.q 2.0 1.1 h8.l 2.1 h.l 1.2 q.2w 2.1 3.0 23.3h 6.1 8.3h 7.0 i.3u 3.3 1.3u 9.0 1.3u i.1h 2.3 1.1h 2.1 9.0 i.k
2.3 c.0 d.3v 1.0 3.3v 1.0 2.3 c.0 1g.1v 2.0 1.1v 7.3 8.1v 1.3 2.1v b.3 3.1 1.1v 4.1 1.1v 1.3 2.0 a.1 6.0 a.1 6.0 b.1
5.0 a.1 6.0 2h.2l 7.0 5.2l 2.3 y.2l 1.3 1.2l 5.0 1y.l a.0 v.21 1.0 3.3 4.21 2.3 3.21 4.0 2.21 1.3 6.21 3.3 4.0 1.1 3.0
c.1 u.3w 2.0 5.3w b.0 18.2r 4.0 q.2r 6.0 b.1 3.0 y.1 n.j 2.3 2.j 1.3 2.0 2.1 1i.3x 1.3 1.3x 7.3 1.0 1.3 1.3x 1.3 2.3x
8.3 6.3x a.3 2.0 1.3 a.1 6.0 a.1 6.0 7.1 1.3x 6.1 2.0 v.3 1d.0 4.3 1c.b 1.3 1.b 5.3 1.b 1.3 5.b 1.3 a.b 3.0 r.1 9.3
b.1 1.0 2.3 w.3r 4.3 2.3r 2.3 1.3r 3.3 2.3r a.1 6.3r 12.e 1.3 1.e 2.3 3.e 1.3 1.e 3.3 2.e 8.0 4.1 18.20 8.3 2.20 2.3
3.0 f.1 3.0 3.20 a.1 10.2x 2.1 9.w 7.0 17.16 2.0 3.16 8.1 8.0 3.3 1.1 d.3 1.1 7.3 4.1 1.3 6.1 1.3 3.1 2.3 1.1 5.0
12.1z 5.1a 1.w 1d.1z 5.1a 4.1z 5.1a d.1z 1.w 1y.1z 1.1a 1s.3 74.1z m.1a 2.0 6.1a 2.0 12.1a 2.0 6.1a 2.0 8.1a 1.0 1.1a
1.0 1.1a 1.0 1.1a 1.0 v.1a 2.0 1h.1a 1.0 7.1a 1.1 1.1a 3.1 3.1a 1.0 7.1a 3.1 4.1a 2.0 6.1a 1.0 3.1 d.1a 3.1 2.0 3.1a
1.0 7.1a 2.1 1.0 b.2 5.0 o.1 7.0 1.2 c.1 1.4 c.1 1.4 l.1 1.2 g.0 1.1 1.1z 2.0 b.1 1.1z f.1 1.0 d.1z 3.0 x.1 f.0 x.3
f.0 y.1 1.4 3.1 1.1a 3.1 2.1z 6.1 1.1z 6.1 1.4 k.1 1.1z 1g.1 2.1z 7.1 4.0 4.1 6.4 f.1 2.4 a7.1 2.4 c.1 1.4 2n.1 1.4
1y.1 1.4 p.1 b.4 4.1 3.4 18.1 p.0 b.1 l.0 2q.1 1.4 6f.1 2.4 a.1 1.4 9.1 1.4 1m.1 4.4 1.1 6.4 1.1 c.4 1.1 36.4 a.1 3a.4
2.1 b.4 1.1 1.4 1.1 1.4 6.1 1.4 3.1 1.4 6.1 1.4 a.1 2.4 f.1 1.4 2.1 1.4 4.1 1.4 1.1 1.4 4.1 3.4 1.1 1.4 b.1 5.4 19.1
3.4 9.1 1.4 e.1 1.4 e.1 1.4 1s.1 1.0 8j.1 2.4 cv.1 3.4 j.1 2.4 1f.1 1.4 4.1 1.4 u.1 2.0 w.1 1.0 2x.1 2o.17 w.1z 2t.s
6.1 4.s 3.3 2.s 5.0 7.1 12.16 1.0 1.16 5.0 1.16 2.0 1k.47 7.0 1.47 1.1 e.0 1.3 n.15 9.0 7.15 1.0 7.15 1.0 7.15 1.0
7.15 1.0 7.15 1.0 7.15 1.0 7.15 1.0 7.15 1.0 w.3 2m.1 y.0 q.1 1.0 2h.1 c.0 5y.1 q.0 c.1 4.0 1.2 4.1 1.1e 10.1 4.3 2.1f
1.4 a.1 1.1e 1.1 1.4 2.1 1.0 2e.1k 2.0 2.3 2.1 3.1k 1.1 2i.1r 2.1 3.1r 5.0 17.h 1.0 1f.1f 1.0 16.1f 1.0 g.1 w.h 10.1
c.0 g.1r v.1 1.0 3b.1 1.4 1.1 1.4 9y.1 534.1e 1s.1 g74.1e wd.4g 3.0 1j.1 9.0 1a.24 2.1 7h.4b 3.1 g.4b a.1 2.4b k.0
1b.w 4.3 1.1 a.3 1.1 v.w 2.3 1y.c a.1 2.3 6.1 8.0 y.1 2u.1z 3.1 1s.1z 5.0 2.1z 1.0 1.1z 1.0 5.1z o.0 e.1z 2.3s 1.3
3.3s 1.3 4.3s 1.3 p.3s 2.3 1.3s 4.1 1.3 3.0 a.1 6.0 1g.3d 4.1 8.0 1w.3j 2.3 8.0 c.1 6.0 i.3 6.y 3.1 1.y 1.1 2.y 1.3
a.1 s.1s 8.3 2.1 n.3g b.3 2.3g b.0 1.1 t.1f 3.0 3.3 1c.1o 1.3 2.1o 4.3 2.1o 2.3 3.1o d.1 1.0 b.1 4.0 2.1 5.2o 1.3 a.2o
a.1 5.2o 1.0 15.p 6.3 2.p 2.3 2.p 2.3 9.0 3.p 1.3 8.p 1.3 1.p 2.0 a.1 2.0 4.1 n.2o 3.1 2.2o 1.3 3.2o 1c.3y 1.3 1.3y
3.3 2.3y 2.3 5.3y 2.3 1.3y 1.3 1.3y o.0 3.3y 2.1 c.2f 2.3 2.2f 2.1 4.2f 1.3 a.0 6.15 2.0 6.15 2.0 6.15 9.0 7.15 1.0
7.15 1.0 17.1z 1.1 9.1z 1.1a 4.1z 2.1 4.0 28.q 11.2f 1.3 2.2f 1.3 2.2f 1.1 1.2f 1.3 2.0 a.1 6.0 8mc.1f c.0 n.1f 4.0
1d.1f 6is.0 a6.1e 2.0 2y.1e 12.0 7.1z c.0 5.9 5.0 1.1j 1.3 a.1j 1.1 d.1j 1.0 5.1j 1.0 1.1j 1.0 2.1j 1.0 2.1j 1.0 a.1j
2q.8 h.1 g.0 a3.8 i.1 1s.8 2.0 1i.8 7.0 1.1 w.0 c.8 4.1 g.0 a.1 6.0 g.3 z.1 1.0 j.1 1.0 4.1 4.0 5.8 1.0 3r.8 4.0 w.1
q.1z 6.1 q.1z b.1 a.1r 1.1 19.1r 2.1 1.0 u.1f 3.0 6.1f 2.0 6.1f 2.0 6.1f 2.0 3.1f 3.0 7.1 1.0 7.1 e.0 1.1 2.0 c.23 1.0
q.23 1.0 j.23 1.0 2.23 1.0 f.23 2.0 e.23 y.0 3f.23 5.0 3.1 4.0 19.1 3.0 2g.1 1.0 d.1 3.0 1.1 1b.0 19.1 1.3 3m.0 t.25
3.0 1d.m f.0 1.3 r.1 4.0 w.2z 4.1 9.0 3.2z h.18 1.1 8.18 1.1 5.0 12.31 5.3 5.0 u.4a 1.0 1.1 10.32 4.0 8.32 6.1 16.0
28.x 1c.3l u.39 2.0 a.1 6.0 10.38 4.0 10.38 4.0 14.13 8.0 1g.n b.0 1.1 b.4c 1.0 f.4c 1.0 7.4c 1.0 2.4c 1.0 b.4c 1.0
f.4c 1.0 7.4c 1.0 2.4c 1v.0 8n.22 9.0 m.22 a.0 8.22 o.0 6.1z 1.0 16.1z 1.0 9.1z 1x.0 6.u 2.0 1.u 1.0 18.u 1.0 2.u 3.0
1.u 2.0 1.u m.1l 1.0 9.1 n.3b 9.1 v.2p 8.0 9.1 1c.0 j.1i 1.0 2.1i 5.0 5.1 m.3e 6.1 3.0 1.1 q.26 5.0 1.1 1s.0 w.2i o.2h
4.0 2.1 2.2h g.1 2.0 1a.1 1.1t 3.3 1.0 2.3 5.0 4.3 4.1t 1.0 3.1t 1.0 t.1t 2.0 3.3 4.0 1.3 9.1 7.0 9.1 7.0 t.34 3.1
t.30 3.1 w.0 8.2b 1.1 s.2b 2.3 4.0 c.1 9.0 1i.a 3.0 7.1 m.1n 2.0 8.1 j.1m 5.0 8.1 i.3f 7.0 4.1 c.0 7.1 28.0 21.35 1j.0
1f.2y d.0 1f.2y 7.0 6.1 10.1g 4.3 8.0 a.1 86.0 v.1 1.0 16.4f 1.0 2.3 1.1 2.0 2.4f 26.0 t.33 a.1 1.33 8.0 m.3o b.3 9.1
m.0 i.36 4.3 4.1 12.0 l.r 7.1 k.0 n.14 9.0 1.i 1.3 1i.i f.3 7.1 4.0 u.1 1.3 2.i 2.3 1.i 9.0 3.3 1d.1p 4.3 2.1p 2.3 2.1
1.0 4.1 1.3 d.0 p.3p 7.0 a.1 6.0 3.3 10.o 5.3 1.o 8.3 1.0 e.1 4.o 8.0 z.27 1.3 2.1 1.27 9.0 2.3 1g.3k 9.3 6.3k 4.1 4.3
1.1 1.3k 1.3 a.1 1.3k 1.1 1.3k 3.1 1.0 k.1 b.0 i.1w 1.0 s.1w 3.3 2.1w 1.3 1.1w 2.3 6.1 1.3 1t.0 7.2n 1.0 1.2n 1.0 4.2n
1.0 f.2n 1.0 a.2n 1.1 6.0 1b.1x 1.3 3.1x 8.3 5.0 a.1 6.0 2.3 2.19 1.0 8.19 2.0 2.19 2.0 m.19 1.0 7.19 1.0 2.19 1.0
5.19 1.0 2.3 3.19 1.3 4.19 2.0 2.19 2.0 3.19 2.0 1.19 6.0 1.19 5.0 7.19 2.0 7.3 3.0 5.3 3v.0 1k.2s 8.3 2.2s 3.3 1.2s
1.3 4.2s h.1 1.0 1.1 1.3 3.2s u.0 1f.48 6.3 1.48 1.3 4.48 2.3 1.48 2.3 2.48 1.1 1.48 8.0 a.1 4m.0 1e.3m 4.3 2.0 4.3m
2.3 1.3m 2.3 n.1 4.3m 2.3 y.0 1f.2k 8.3 2.2k 1.3 1.2k 2.3 3.1 1.2k b.0 a.1 6.0 d.1 j.0 17.3z 1.3 1.3z 1.3 2.3z 6.3
1.3z 1.3 1.3z 1.1 6.0 a.1 1i.0 r.6 2.0 3.3 2.6 4.3 1.6 5.3 4.0 g.1 7.6 55.0 1b.10 9.3 1.10 2.3 1.1 2s.0 1s.4e j.1 c.0
1.4e 7.z 2.0 1.z 2.0 8.z 1.0 2.z 1.0 u.z 1.0 2.z 2.0 2.3 1.z 1.3 4.z 1.3 3.1 9.0 a.1 1y.0 8.2q 2.0 16.2q 4.3 2.0 2.3
4.2q 1.3 1.2q 1.1 2.2q r.0 1.4h a.3 14.4h 6.3 2.4h 4.3 8.1 1.3 8.0 1.3q 6.3 2.3q 3.3 1a.3q d.3 1.3q 2.3 3.1 1.3q 5.1
d.0 g.l 1l.3c 7b.0 9.g 1.0 12.g 7.3 1.0 6.3 1.g 1.3 1.g 5.1 a.0 t.1 3.0 2.1 u.2c 2.0 m.3 1.0 1.2c 7.3 1.2c 2.3 1.2c
2.3 21.0 7.2d 1.0 2.2d 1.0 12.2d 6.3 3.0 1.3 1.0 2.3 1.0 7.3 1.2d 1.3 8.0 a.1 6.0 6.1c 1.0 2.1c 1.0 11.1c 1.0 2.3 1.0
2.1c 1.3 1.1c 1.3 1.1c 7.0 a.1 8m.0 j.28 2.3 2.28 2.1 53.0 1.24 f.0 1e.1 d.0 1.1 pm.t 2u.0 33.1 1.0 5.1 b.0 5g.t 218.0
2p.v 2.1 d.0 tr.12 34h.0 g7.7 6nt.0 ft.c 7.0 v.2m 1.0 a.1 4.0 2.1 27.41 1.0 a.1 6.0 u.d 2.0 5.3 1.1 a.0 1c.3a 7.3 9.1
4.3a 2.1 a.0 a.1 1.0 7.1 1.0 l.3a 5.0 j.3a j4.0 1s.2e r.1 2t.0 23.2j 4.0 1.3 1k.2j 7.0 4.3 d.2j 1s.0 1.42 1.2u 1.1
1.1e c.0 2.1e e.0 4qg.42 8.0 lc.42 d2.1u 16.0 9.42 6w7.0 4.1r 1.0 7.1r 1.0 2.1r 1.0 1.1r 7z.1k 3.1r 19.0 3.1k h.0 4.1r
8.0 b0.2u 1s4.0 2z.11 5.0 d.11 3.0 9.11 7.0 a.11 2.0 1.1 2.3 1.1 3mo.0 1a.3 2.0 n.3 9.0 38.1 1o.0 6u.1 a.0 13.1 2.0
1c.1 1.0 d.1 3.3 9.1 8.0 8.3 2.1 7.3 u.1 4.3 1p.1 l.0 1u.1 3.3 1.1 4a.0 k.1 c.0 2f.1 9.0 p.1 3r.0 2d.1 1.0 1z.1 1.0
2.1 2.0 1.1 2.0 2.1 2.0 4.1 1.0 c.1 1.0 1.1 1.0 7.1 1.0 1t.1 1.0 4.1 2.0 8.1 1.0 7.1 1.0 s.1 1.0 4.1 1.0 5.1 1.0 1.1
3.0 7.1 1.0 9g.1 2.0 84.1 2.0 fm.1 1j.3 4.1 1e.3 8.1 1.3 e.1 1.3 7.1 f.0 5.3 1.0 f.3 uo.0 v.1z 69.0 7.3 1.0 h.3 2.0
7.3 1.0 2.3 1.0 5.3 5x.0 19.2v 3.0 7.3 7.2v 2.0 a.1 4.0 1.2v 1.1 8w.0 u.49 1.3 h.0 18.4d 4.3 a.1 5.0 1.1 yo.0 7.15 1.0
4.15 1.0 2.15 1.0 f.15 1.0 5h.2g 2.0 9.1 7.3 15.0 1w.5 7.3 1.5 4.0 a.1 4.0 2.1 lt.0 1w.1 24.0 1p.1 5e.0 4.8 1.0 r.8
1.0 2.8 1.0 1.8 2.0 1.8 1.0 a.8 1.0 4.8 1.0 1.8 1.0 1.8 6.0 1.8 4.0 1.8 1.0 1.8 1.0 1.8 1.0 3.8 1.0 2.8 1.0 1.8 2.0
1.8 1.0 1.8 1.0 1.8 1.0 1.8 1.0 1.8 1.0 2.8 1.0 1.8 2.0 4.8 1.0 7.8 1.0 4.8 1.0 4.8 1.0 1.8 1.0 a.8 1.0 h.8 5.0 3.8
1.0 5.8 1.0 h.8 1g.0 2.1 7i.0 18.4 4.0 2s.4 c.0 f.4 2.0 f.4 1.0 f.4 1.0 11.4 a.0 d.1 3.4 v.1 1.4 1o.1 6.4 c.1 2.4 e.1
1.4 2.1 a.4 i.1 1.4 1k.0 r.1 2.4 d.0 a.1 1.4 k.1 1.4 2.1 9.4 1.1 4.0 9.1 7.0 2.4 e.0 6.4 4a.0 fy.4 8.1 7e.4 1c.1 2g.4
5.0 g.4 3.0 d.4 3.0 38.1 c.0 2d.1 4.4 7.0 c.4 4.0 1.4 f.0 c.1 4.0 1k.1 8.0 a.1 6.0 14.1 8.0 u.1 2.0 2.4 26.0 c.1 1b.4
1.1 a.4 1.1 7h.4 c.0 e.4 2.0 5.4 3.0 5.4 3.0 7.4 9.0 t.4 3.0 b.4 5.0 6.4 a.0 a.4 6.0 8.4 8.0 7.4 9.0 43.1 1.0 1j.1
11.0 a.1 sm.0 wyo.1e w.0 37d.1e 7.0 66.1e 2.0 4g2.1e e.0 5rl.1e 2e7.0 f2.1e 15u.0 3t7.1e jk51.0
`;

/** How far a character is from the one before, and the characters that it looks like, in base 36. */
export const ALIKE = `\
y:13.13 e:27 1:30 o:30 e:2e.2e 9:13 d:36.32 a:3a.3a 5:30 12:2r.mw 1:6g4 2:2h.mu 4:794 5:79j 1:jt 5:13 1:qk 1:94v 2:18
e:1t.1x a:1w.mu 7:3c 1:27.mw e:2p.2t a:6pu.mu 7:7tj 1:33.mw o:1w.mu 1:2s.mu l:20.mu 1:2w.mu a:2x 1:30.22 1:2x.2y
c:30.53 1:30.53 1:24.mw 1:30.mw 7:13.32 9:27.1x 1:33.2t j:2c.mu 1:38.mu o:2u 1:2q.mu 1:13.1u 1:2q.lg 1:2q.lg 1:2q
3:1v.13 2:1w.mu 1:13.1w 2:2s.lg 1:2v 2:yg 2:1y.me 1:2u.me 1:1z.13 3:30 1:30.mu 1:23.13 1:2z.199 1:30.mu 3:26.me
1:32.mh 1:27.mu 5:13.28 1:34.199 1:2a 1:1e 4:38.me 1:13.2c 1:38.199 1:2c.mg 5:13.2h 1:3d.199 1:2i.mu 1:3e.mu 1:1f
4:1e.mu 1:1h 1:37 2:72 1:30 1:30.30 2:x 1:1w.2i.li 1:1w.3e.li 1:2s.3e.li 1:24.22 1:24.2y 1:30.2y 1:26.22 1:26.2y
1:32.2y o:1z.mu 1:2v.mu c:1w.2i 1:1w.3e 1:2s.3e 3:zu 12:1f 6:1k 1:1k 1:2i.me 1:3e.me n:2r.mw 2:2c.mw 3:1r 1:xvi
2:2d.mu 2:1x.mw 1:2t.mw 1:22.mu 1:2y.mu 2:5u8 2:36.mu 1:2h.mu 1:3d.mu 2:2p 2:2q.199 3:2s.mg 1:2s.199 2:d9 1:d9.ke
1:x3n 3:1feq 2:2v.199 1:2v 2:3d 3:2w.199 2:2x.mu 1:2x 1:2x 1:30.ms 2:30.mg 1:30.f1 1:3a.3a 2:36.32.me 1:32.me 1:32.mg
2:33.mu 1:33.xvg 1:1fen 5:36.mh 1:36.mg 2:6jt 3:37.mg 9:39 4:3d 1:3e.mg 2:f1 2:1r c:35.199 1:wy5 2:2s.3e 1:2s.f1
1:2s.i9 1:38.37 1:38.hv 1:38.gl 1:2u.97 1:30.37 1:30.3e 8:4xg 6:13 1:13.13 1:13 1:13 1:13 1:13 1:121 2:kk 1:1o 1:1q
1:2m 2:2m 2:13 2:13 1:13 4:ol 1:1m 3:121 4:19 1:jr 1:1v5 1:4w 1:2x 1:3i 1:13.13 4:4xf 1:4xh 9:x04 3:13.13 5:9he 1:13
2:13.13 2:1m 3:kq a:lg 4:9ik 3:li 1:19s 1:5p6 2:li.lj 1:le 1:193 2:199 1:lv 1:5pp 1:18w 9:mp 1:me 1:mg 5:me 4:5p1
2:5p5 1:5p4 5:nb 2:mu 2:mw 2:me 9:lf 3:mg d:1s0 2:1rt 1:1ru 2:nk 1:lj b:92u 1:92v 2:lm 2:92l 6:li 1:92n 1:8s5 1:xvk
5:t4 1:5qm 3:2x 1:gk 2:x1b 2:22 5:13 d:1t 1:1u 3:1x 1:2i 1:20 1:27.mu 1:30 1:23 1:g5 1:25 1:26 2:27 2:28 2:bt 1:2c
1:2h 2:2g a:2p 1:67 1:3d 1:61r 1:x3n 2:32.mh 1:27.mu 1:2x 1:8o 3:3a 2:33 2:34 1:33 1:33 1:5qz 1:39 1:hk a:67 1:27.mu
1:2h 3:hk 1:qo 1:8v8 4:33 1:1y c:1e 1:bs 3:8v0 4:8o 1:34 1:2r 1:2y 1:27.mu 1:x3n 2:66 1:72 1:1v 1:25 3:au 2:x1a 5:x3m
1:2b 1:30 2:22 3:1fil 5:1t 1:2q.lg 1:1u 1:pf 2:1x 2:1f 3:23 1:g5 1:25 1:20 1:27 1:ps 1:28 1:1v 1:2c 1:2h 1:py 1:2g
3:8u4 3:2q.30 1:2q 1:6iw 1:30.27 2:2p 1:1i 1:ih 1:36 2:2t 2:gs 1:5qm 2:8o 1:5rf 1:i5 1:ik 1:33 1:qo 1:34 1:2r 1:5qz
1:3d 1:hk 1:3c 3:8u5 2:jt.2q 1:at.2x 1:at 3:5qx 5:x3n 1:37 1:2x 2:2y 1:xuo 2:2w.mu 6:3a.3a 1:2q.mu 1:2q.mu d:q0 1:qw
1:27.mu 1:33.mu 1:2e 1:3a 7:v4.w6.w7 1:3a.3a.w6.w7 d:t4.me.lc 1:5qm.me.li 1:2q.mu 1:2q.mu 3:pf.13 1:36.13 1:pf.mu
1:36.mu 3:t2.mh 1:ty.mh 1:1f.me 1:gs.me 1:23.mh 1:8o.mh 3:23.mu 1:8o.mu 3:20.mh 1:ik.mh 7:1v.me 1:2r.me 1:2c.mh
1:5qz.mh 1:2h 1:3d 1:2h.mu 1:3d.mu 1:2g.mh 4:y3 1:y4 4:2w 2:2t 1:xo.mg 1:2t.mg 1:30 3:1fi4 2:g5.me 1:5rf.me 1:20.me
1:ik.me 1:20.me 1:ik.me 3:25.me 1:i5.me 1:2x 5:1t.1x 1:2p.2t 4:d9 7:1f 1:f1 7:27.mu 1:33.mu l:2k1u 3:2s b:1z 1:gy 3:b4
1:x3n 9:29 1:35 1:2e.2e 1:3a.3a u:3ou 9:3k6 6:3s3 2:3mp 1:2d 2:2b 4:py 1:6gt 1:27 5:13 3:13 4:3a.3a 2:35 3:35 8:61r
2:2w 1:3o4 4:fr 3:32 2:hc 2:32 1:39 4:2v 3:2u 1:33 2:12d.136 2:1m d:14d 2:14e 1:148 1:144 2:ld 1:ld i:lm 5:mb 5:lj
1:lj 6:30 1:lj 1:lj 1:1m 1:lj 1:mb c:6k6 1:6k7 2:1dlv 1:30 3:3a 1:13 2:1dlw 1:1dlx 1:1dly 2:30 2:33 1:1dls 6:1dlz
2:1dm0 6:30.30 1:30.13 1:13.13 1:13 1:13.13 l:56.1b.6f4.6f4 1:56.1b.6f4.6f4.6f4 2:13 1:18 2:189 9:ld 1:lv 1:18w 1:94l
4:94e 8:30 2:33.lk 2:18p.1cr 9:183.1cr 9:18p.le 2:18p.1cr 8:33 3:18p 1:ln 2:1rm 1:ld 1:lv 3:lm 1:lf 2:19b 1:mh 2:li
1:lg 1:li 1:le 1:mb 4:1a 1:30 3:1dg 1:33 1:1di 1:2e 1:g5 2:56.1b.6f4 1:18 1:13 1:16 1:18p 1:1b5 3:30.190 1:30.19b
1:190 1:30.190 1:18o.190 1:18o.lv.190 1:18p.190 1:18p.179 5:18p.1cr 3:17x.190 4:17x.1cr 3:17z.179 3:1ai.179 3:17z.1cr
3:181.179 1:181.li 6:181.1cr 6:185.1cr 1:187.1cr 5:1b5.1cr 3:18h 1:1b5.1cr 1:18j 1:18j 2:1gi 1:18j.1cr 7:1bj.1cr
1:18k.li 2:18k.1cr 3:18p 1:18p.179 2:18p.1cr 1:33 3:33 2:33.lk 3:18o.li 1:18o.lv 1:18o.19s 1:18o.le 2:18o.1cr 1:18p
2:18p.li 2:1a3 1:18p.1cr 1:18p 2:19 1:33 a:lm 9:li.lj 4:lj 2:17z.le 1:181.le 1:1a 1:30 1:19e 1:19f 2:33 2:2e 1:g5
1:19l 4:17l.nc 1:18l.nc 1:33.le 2:1a 1:1a 1:1m 1:1m 1k:1fm 4:lj 1:lj 6:ld a:17s.1cr 5:18p.li d:18j.1cr 4:1g4 1:18m.179
1:18m.li 3:181.190 5:1av.179 1:17x.190 c:183.le 1u:27 a:30 x:lg 2:lj 1:le 5:lk 1:13 1:13 5:2n 4n:17s.190 3:1b6.1cr
3:18l.1cr 1:18p.190 1:1g4 5:17z.mc.mb 1:185.mc.mb 1:1bj 1:18o 1:182.le 4:17s.1cy 1:18p.1cr.1cy 2:181.li.lj 1:18p.li.lj
1:1b5 1:1b5 1:18p 14:18s 3:18s 2:lj 1:lk 2:mb 1:mc 2:ln 1:18s 2:lv 5:nk 7:nk 2:li.lj 1:lj 1:1m 1:1s5.217 2:1s5.1tq
2:1tc.1u5.1s7 5:1sf.1tx 1:1sf.217 2:1sf.1tz 1:1s5.1u1 1:1s5.1tq.217 1:1s5.1tq.1tz 1:1s5.1tq.1u0 12:1i2z 2:mb 1:24d
4:24h 1:24i 4:217 c:mp 1:lc 1:ld g:x80 1:x80.x80 1:33 1:19l 1:25k 1:25l 1:25m 4:25q f:1r 4:li.lj 5:1vp.1ink i:1imq
2:1ims 2:1imu 2:1imw 1:1imx 2:1imz 2:1ine 1:1in2 1:1in3 1:1in4 1:1in5 1:1in6 2:1in7 2:1ind 2:1inb 1:1inc 1:1inf 2:1in1
5:1inh 1:1ini 4:mb 1:1io4 1:1ink 1:1inl 8:1int 6:1io2 a:1inx 9:1vv.1xf 1:1vv.1xf 5:27 1:1ioh 1:1ioi 2:1k 2:1iom 1:1l
l:lj 1:1vn 3:1z9.20u 1:22a.20v 1:22a.20w 1:22b.20x 1:22b.20y 5:22a.213 1:1z9.214 4:1z9.218 14:mb h:1u5 p:33 1:1l 3:1k
n:li.lj 1:lj 1:1m 3:22t.24e 7:22t.24l 2:22t.24n 1:22t.24o 1:22t.24e.24l 2:22t.24e.24n 1:22t.24e.24o 14:mb h:1u5 p:33
a:1v4 h:li.lj 2:1k 3:26d.27y q:27 s:mb 16:27 2:1l q:lm 3:2cu 5:2a1.2c7 4:2ct 7:2cn 5:2cq 2:2a8 7:2lf 6:2bs 6:2cw 1:2a0
3:2c7 1:2lw 2:2ly 1:2d4 7:2a0 f:lj p:33 2:2a1 3:2a0.2bl 1:2cq.2bl 6:2cq.2bm 1:2d1 1:2b2.2bk 3:2ct.2b9 3:2aw.2bk
6:li.lj 2:33 1:1vn 2:2h1 1:2h2 1:2h3 b:2he 1:2he.2fp 1:2he.2fg 8:2ho 2:2hq 2:2eo.14s 2:2e9.mb 1:2hv 2:2ef.14s 8:2ek.mb
1:2et.2f5 1:2i7 2:2i9 1:2ia 5:2et.mb 2:2et.2f2 9:2f5.2f2 2:2f7.2f2 s:2dn.2f2 1:2do.2f2 5:33 1:2jr 1:2js 7:2jz i:li.lj
1:33 1:1vn g:2he.2fp 1:2he.2fg 25:2h8.2im 5:33 r:li.lj 1:33 1:1vn 5:2kn.2mv 1:2a1 1:2a1.2mv 2:2lk.2m9 4:2ku.2me
3:2ky.2m6 1:2ky.2mv 5:2lk.2m9 3:2a8 2:2n5 2:33 g:2lt a:2an.2bj 5:2bj 1:2bj 2:2m9 1:2m9 5:2me.2me 6:1v5 c:2lk.2ml.2lq
5:33.2lt.33 7:33 4:2lt.2ml 1:2li.2ml.2lt 1:2lk.2ml.2lk 1:1l 1:2lx.2ml.2lt 1:2lk.2ml 7:2m1.2ml.2lq 3:2lk.2m9 2:2lk.2ml
1:2lt.2ml 6:33 1:1vn v:2qy d:2qz 1m:2qw.2q7 6:2qw.2qb j:2rn 4:2sh 2:2vc 2:2rv 4:2rz 3:2s7 3:2ro 1:2ro 5:2vu 1:2vv
2:2vx 1:2vy 1:2vz 1:2sm 2:2vh d:4pg 3:2th 1:lm.2th 1:4on 1:4oo 1:4op 1:4oq 1:2wo 1:2wp 8:2tc.2tc 8:2x5 1:2x6 1:2x7
2:lm 2:4pl 1:33 a:4ph 1:4pm 2g:lm.2wi l:2tk 5:lm 3:33 c:2wb.2vt 1:2wb.2w1 z:31k.324.326 2:31c.31w.32a.327
1:31c.31w.32a.2z8 8:2z0 3:2z1.2z1 d:2ze.2ze 3:2zh.2zh 1:2ze.2zh o:md 17:31m l:33m.31t.328 2:33n.31t.328 2d:2zh.2ze
7:ggg 1:ggd 16:35u.370 g:33.370 d:33 2:36d.370 a:36m.37g 1:36m.37g.375.370.37e c:lm 2:1vn 8:33 1:38l a:37u.37u
r:36d.37i 9:36d.370.37i 1:35v.37i e:399.37i 3:35u.37i t:39f.lm 2:x3a 1z:3d c:f1 c:33 2:3cw.3cw 3:3cz.3cz 4:3d3.3d3
2:3d5.3d5 3:3d8.3d8 6:3cy.3cw 1:3cy.3cy 1:3cy.3cz 1:3cy.3d3 1:3cz.3cw 1:3d1.3cy 1:3d1.3d1 1:3d1.3de 1:3d1.3d7
1:3d2.3d3 1:3d2.3d7 1:3d3.3cw 1:3d3.3cy 1:3d3.3cz 1:3d3.3d5 1:3d3.3d5.3cw 1:3d3.3d5.3cz 1:3d3.3d5.3d3 1:3d3.3d5.3d5
1:3d3.3d5.3d8 1:3d3.3d8 1:3d3.3da 1:3d3.3dc 1:3d3.3dd 1:3d3.3d7 1:3d3.3d3.3d7 1:3d5.3cw 1:3d5.3cy 1:3d5.3cz 1:3d5.3d1
1:3d5.3d2 1:3d5.3d3 1:3d5.3d3.3cw 1:3d5.3d5.3d5 1:3d5.3d7 1:3d5.3d8 1:3d5.3da 1:3d5.3db 1:3d5.3dc 1:3d5.3dd 1:3d1.3de
2:3ek.3ek 2:3em.3em 2:3d7.3cw 1:3d7.3cz 1:3d7.3d2 1:3d7.3d3 1:3d7.3d5 1:3d7.3eo 1:3d7.3d7 1:3d7.3d8 1:3d7.3da
1:3d7.3dc 1:3d7.3dd 2:3d8.3d7 2:3f2.3f2 2:3f4.3f4 1:3da.3db 1:3da.3de 3:3dd.3d3 1:3dd.3d7 1:3de.3de 2:3cw.3cz
1:3cy.3d5 1:3cy.3d8 1:3cy.3de 1:3cz.3d1 3:9qn 1:9qn.ffs 1:9qp 1:9qp.ffs 1:9qr 1:9qr.ffs 1:9qt 1:9qt.ffs 1:9qv
1:9qv.9qn 1:9qv.9qn.ffs 1:9qv.ffs 1:9qz 1:9r0 1:9r0.9qr 1:9r0.9qr.ffs 1:9r0.ffs 1:9r4 1:9oc 1:9oc.ffs 1:ffs 1:9qn.9qv
1:9qn.9r0 1:9qp.9qv 1:9qp.9qz 1:9qr.9qv 1:9qr.9r0 1:9qr.9oc 1:9qt.9qv 1:9qt.9r0 1:9qv.9qr 1:9qv.9qr.ffs 1:9qv.9qt.ffs
1:9qv.9qv 1:9qv.9r0 1:9qz.9qp 1:9qz.9qp.ffs 1:9qz.9qp 1:9qz.9qv 1:9qz.ffs 1:9r0.9qn 1:9r0.9qn.ffs 1:9r0.9qr.9oc
1:9r0.9qt.ffs 1:9r0.9r0 1:9r4.9qn 1:9r4.9qr 1:9r4.9qr.ffs 1:9r4.9qt 1:9r4.9qt.ffs 1:9r4.9r0 1:9r4.ffs 1:9oc.9r0
1:9oc.9oc 1:9oc.ffs.9r0 1:ffs.9qn 1:ffs.9qp 1:ffs.9qv 1:ffs.9r0 1:ffs.9oc 1:ffs.9sd 1:9sd 1:9sd.9qr 1:9sd.9r0
1:9sd.ffs 1:9sd.9sd 1:9qn.9oc 1:9qp.9r0 1:9qt.9qp 1:9qv.9qp 1:9qv.9qp.ffs 1:3cw 1:3cw.3cw 1:3cw.3d5 1:3cy 1:3cy.3d8
1:3cy.3de 1:3cz 1:3d1 1:3d1.3cw 1:3d1.3d2 1:3d1.3d3 1:3d1.3d5 1:3d1.3dc 1:3d1.3dd 1:3d1.3de 1:3d2 1:3d3 1:3d3.3d5
1:3d5 1:3d5.3d5 1:3d7 1:3d8 1:3da 1:3db 1:3dc 1:3dd 1:3de 1:3cw.3d1 1:3cw.3d5.3cw 1:3cy.3cw 1:3cy.3cz 1:3cy.3d5
1:3cy.3eo 1:3cy.3dc 1:3cz.3cw 1:3cz.3d1 1:3d1.3cw.3d5 1:3d1.3cy 1:3d1.3cz 1:3d1.3cz.3de 1:3d1.3d1 1:3d1.3d2.3cw
1:3d1.3d2.3d5 1:3d1.3d3.3d5 1:3d1.3d3.3de 1:3d1.3d3.3d7 1:3d1.3d5.3d5 1:3d1.3eo 1:3d1.3db 1:3d1.3fd 1:3d2.3cw
1:3d2.3d1 1:3d2.3d3 1:3d2.3d5 1:3d2.3d5.3d5 1:3d2.3eo 1:3d2.3da 1:3d2.3de 1:3d2.3d7 1:3d3.3d1 1:3d3.3dd 1:3d3.3de
1:3d3.3d7 1:3d5.3cw 1:3d5.3cz 1:3d5.3d1 1:3d5.3d3 1:3eo 1:3d7.3cw 1:3d7.3cw.3cw 1:3d7.3d7 1:3d7.3db 1:3f0 1:3d7.3d5
1:3d7.3eo 1:3dd.3d3 1:3dd.3d7 1:3de.3cy 1:3de.3d1 1:3de.3d2 1:3de.3d3 1:3fd 1:3cw.3cy 1:3cw.3d3 1:3cw.3da 1:3cw.3db
1:3cw.3de 1:3cy.3cy 1:2d z:hc t:py w:11k 34:27 5s:1w 1:2a 1:2c 2:27.13 1:2x 3:8s5 1:2h 1:1t 1:22 1:1x 2:1r 2:8s5 1:pf
2:2e.2e 4:25 4:20 2:2h 1:27.mu 1:38.me 1:1z 2:2w 1:2i 4:v4 4:b4 1:2d.mu 2:1g 1:2q 3:2a 2:2e.2e 1:2b 4:2e 1:2b 4:24
1:1v 3:28 4:23 1:2s 4:27.mu 3:1i 1:qx.lf 1:67 2:2w.199 1:1z 1:1u 7:gy 1:ih 4:1p 3:pg 9:53.3y9 1:3y9.53 1:53.pg 1:pg.53
1:53.3yc 1:3yc.53 1:53.3yd 1:3yd.53 1:53.3ye 1:3ye.53 2:53.3yi 1:3yi.53 1:53.3yj 1:3yj.53 7:441 6:53 2:474 2:3y9.3z4
1:pg.3z4 1:3yd.3z4 1:3yi.3z4 1:2e 2:g5 2:1q 2:6zt 2:53.1q 1:1o 2:53.2e 1:2e.53 1:53.g5 1:g5.53 1:53.3zm 1:3zm.53
1:53.1q 1:1q.53 1:53.3zo 1:3zo.53 1:53.1o 1:1o.53 1:53.3zt 1:3zt.53 3:13 2:2d 2:11k 6:53.40g 3:53.2d 1:2d.53 1:53.11k
1:11k.53 1:53.40f 1:40f.53 1:53.40g 1:40g.53 1:53.40h 1:40h.53 1:53.40l 1:40l.53 1:53.40m 1:40m.53 3:2d.13 1:11k.13
1:40g.13 1:40l.13 3:28 2:2s 3:2q 1:2q.lj 1:53.417 1:417.53 1:53.28 1:34.53 1:53.41a 1:41a.53 1:53.2s 1:2s.53 1:53.41c
1:41c.53 1:53.2q 1:2q.53 1:53.2q.lj 1:2q.lj.53 4:417.13 1:28.13 1:2s.13 1:2q.13 1:4cj 4:22 3:4ci 2:53.4cj 1:4cj.53
1:53.423 1:423.53 1:53.424 1:424.53 1:53.22 1:22.53 1:53.426 1:426.53 1:53.4ci 1:4ci.53 1:53.429 1:429.53 6:pf 5:24
2:53.42r 1:42r.53 1:53.pf 1:pf.53 1:53.42u 1:42u.53 1:53.42v 1:42v.53 1:53.42w 1:42w.53 1:53.24 1:30.53 1:53.42z
1:42z.53 6:1e a:53.43k 1:43k.53 1:53.43r 1:43r.53 1:53.43s 1:43s.53 5:4ck 7:4cn 2:53.4ck 1:4ck.53 1:53.445 1:445.53
1:53.446 1:446.53 1:53.447 1:447.53 1:53.448 1:448.53 1:53.4cn 1:4cn.53 1:53.44b 1:44b.53 d:53.44t 1:44t.53 1:53.44v
1:44v.53 1:53.44w 1:44w.53 1:53.44x 1:44x.53 1:53.44y 1:44y.53 1:53.450 1:450.53 1:53.451 1:451.53 9:45n.1o 1:45n.40l
1:45n.2q 1:45n.4ci 8:53.45s 1:45s.53 1:53.45t 1:45t.53 1:53.45u 1:45u.53 1:53.45v 1:45v.53 1:53.45w 1:45w.53 1:53.45x
1:45x.53 1:53.45y 1:45y.53 b:53.1g 1:1g.53 1:53.46g 1:46g.53 1:53.46h 1:46h.53 1:53.46i 1:46i.53 1:53.46j 1:46j.53
1:53.46l 1:46l.53 1:53.46m 1:46m.53 5:3c 2:4de 3:4df 4:4dg 4:53.47g 1:47g.53 c:53.47u 1:47u.53 c:53.487 1:487.53 e:61r
5:20 1:3c 1:47k.418 1:47k.28 1:47k.41a 1:47k.2s 1:47k.41c 1:47k.2q 1:47k.2q.lj 1:47k.41v 2:2a 7:49h.422 1:49h.423
1:49h.424 1:49h.22 1:49h.426 1:49h.4ci 1:49h.429 r:2q 5:1y 1:6k2 2:x6j d:8rz 1:1t d:8ff 3:8fe 9:1w 3:wl3 9:1w 5:v4
1:25 7:1u 1j:c1 1:q1 5:c1 1:q1 h:5vf q:wkt d:2g 1:3c 1:47k.417 1:49h.4cj 1:49i.423 1:49i.424 1:49i.22 1:49i.426
1:49i.4ci 1:49i.429 1:49z.53 1:4a0.53 1:4a1.53 1:4a2.53 1:4a3.53 1:4a4.53 1:4a5.53 1h:1o 5:2g 2:wxc 3:4ip 5:30 1:4hp
9:2k3j 1:13 3:6mp 1:6nz 5:23 1:25 2:q0 e:1fio 2:6mt 3:53 1:1m 1:17 2:8yr 1:py 1x:1b 31:4o3 10:lm 5:2tk 8:lm 1c:1m 6:1m
18:4t1 13:4uu 2f:53.4vl 3:53.4vo 3:53.4vs 9:53.4w0 4:53.43m 1:43m.53 1:53.43n 1:43n.53 1:53.43o 1:43o.53 1:53.43p
1:43p.53 1:53.4de 1:53.4df 1:53.47b 1:53.47c 1:53.47d 1:53.47f 1:5ve 2:5ry 5:4xh 1:4wv.3z2 1:3z2.4wv 3:4de.53 3:47y.53
1:486.53 1:48b.53 3:492.53 2:49j.53 3:v4.53 3:4c4.53 2:4d7.53 4s:53k j:53l 5r:56t g:56t p:59k.59k 2:59m.59k 9:1cr 3:mg
2e:5ea 4:5eb n:5eg 14:5ek f:5em.5em 65:5kr.5kr 1v:5mm.5mm 29:le 2:lg 1:13.13 9:mh 1:mb 1:mc y:xve 4:2r 1:xv4 2:xvg
1:gs 2:xvf 1:8o 2:i5 2:33 1:gk 1:33 3:d9.33 8:39 4:3a 1:3a.3a 1:3e 2:bs 2:36 1:i4 1:qo 1:5qw b:5tk n:5un 2:5uq 5:56
p:39.2t 3:2u.ms 1:36.32.ms 1:32.ms 2:36.ms 1:hq.ms 1:37.ms 1:38.ms 1:3e.ms 5:2x.mu 1:2x.mu 1:34.mu 1:39.mu 1:i2.mu
4:2v 9:3d 2b:92g f:92k 4s:2p.9ik 3:2u 2q:3d 5a:13 2:13 1:3i 1q:13 i:19 1:19 1:19 1:19 1:9oc 1:9oc 1:30.30 2:13 1:13
1:18 1:13 1:13.13 1:13.13 2:13.13 3:53 2:1a 1:1a.1a 1:1a.1a.1a 1:53 9:56.1b.6f4.6f4 1:56.1b.6f4.6f4.6f4 1:13 1:13.13
1:13.13.13 1:13 1:13.13 1:13.13.13 2:1o 1:1q 2:x.x 2:jt 3:1b 2:19 1:1b 3:1r.1r 1:1r.x 1:x.1r 5:16 4:56.1b.6f4 1:3i
4:13.13.13.13 3:1m 3:8yf 1:8xu i:56 9:x2o 14:1v.6i3 4:36.32.mw 3:2a.37 1:2e.2e.mu 2:2s.mu.mp 1:x3m 1:23.mu 1:2c.6i3
8:30.38 11:1cr e:wvj n:2p.1b.2r 1:2p.1b.37 1:1v 1:4w.1v 2:2r.1b.33 1:2r.1b.39 1:b4 2:4w.1y 1:2v 1:20 1:20 1:20 1:2w
1:2w.mu 1:30 1:30 1:24 1:30 2:26 1:26.33 1:79h 2:28 1:29 1:2a 1:2a 1:2a 4:2c.1x.24 3:2i 3:c1 1:2i 4:1u 1:1v 1:2t 1:2t
1:1x 1:1y 2:25 1:33 1:15c 3:15f 1:2x 2:1y.1t.2g 1:qo 1:3d 1:pf 1:ps 1:bt 1:wko 1:wl2 1:20hs 1:2k2j 1:1w 1:2s 1:2t 1:2x
1:2y n:30 1:30.30 1:30.30.30 1:30.2e 1:2e 1:2e.30 1:2e.30.30 1:2e.30.30.30 1:30.2g 1:2g 1:2g.30 1:2g.30.30 1:24 1:1v
1:1w 1:25 1:2x 1:2x.2x 1:2x.2x.2x 1:2x.3a 1:3a 1:3a.2x 1:3a.2x.2x 1:3a.2x.2x.2x 1:2x.3c 1:3c 1:3c.2x 1:3c.2x.2x 1:30
1:2r 1:2s 1:36.32 4:au 1:gk q:8oc 1:8od 1:8oe 1:8of h:6np 8:2q6m 4:4ii 1u:8rz 3:b2 2:6ww 1:pg 9:ps 1:8cf 1:bt 1:19
2:17.lj 1:1b 1:2k 1:16 1:4w 1:53 5:33.33 2:2ojs 3:30 2:30.30 2:6v4 1:3a 1:11k 1:2d 1:hv 1:hv.hv 1:hv.hv.hv 2:6r2.6r2
1:6r2.6r2.6r2 4:94b 1:94a 1:1m 1:94c 1:19.lj 4:3i c:1i3i 8:1p.lj 1:1p.mb.lj 6:1p.lm 2:1p.le 1:1p.li 4:1p.ob 3:6sj
9:1o.1o 1:1q.1q n:40l 1:40g a:8ar 1:8as 1:2k3c 1:2k3d 3:8at 1:8au 1:1f3c 1:27.mu 1:8aq 2:ig 2:6zj 2:27.mu 3:2rg1
1:2rf9 3:2c 1:wk5 d:7gh 1:7g7 e:3a 1:11k 1:2d 1:4ik 1:53 3:4im e:1o.53 1:53.1q 1:1o.1o.1o 1:1q.1q.1q l:8yf 1:53.53.53
5:x3n b:1x 8:1e7o b:7hc 7:8cd b:6xx n:893 6:9j0 1:891 7:88g 2:72b 3:72a 7:729 4:pg.mq 1:4ik.mq 2:4w.mq 5:2c.lk
1:6pz.lk 1:6va.lk 1:4w.lk 1:33.lk 3:3i.lk 3:6pz.ms 1:27.mu 1:72e 6:2x 1:34 1:qx 1:2p.mq 1:x3n.mq 1:2x.mq 1:qx.mq 1:2p
5:4hp 9:7js k:ffs 3:ffs 3:ffs 3:ffs 5:ffs 4:ffs 1a:1e7p 1:1e7q 1:1e7r 1:1e7s 1:1e7t 1:1e7u 4:7g1 3:6f5.6f4 j:73w 2:30
1:7jy 24:2k.2k m:7sw 1:7sx 1:7sy 1:7sz 1:7t0 1:7t1 1:7t2 1:7t3 1:7t4 1:7t5 b:14.30.15 1:14.1e.15 1:14.1f.15 1:14.1g.15
1:14.1h.15 1:14.1i.15 1:14.1j.15 1:14.1k.15 1:14.1l.15 1:14.30.27.15 1:14.30.30.15 1:14.30.1e.15 1:14.30.1f.15
1:14.30.1g.15 1:14.30.1h.15 1:14.30.1i.15 1:14.30.1j.15 1:14.30.1k.15 1:14.30.1l.15 1:14.1e.27.15 1:30.1a 1:1e.1a
1:1f.1a 1:1g.1a 1:1h.1a 1:1i.1a 1:1j.1a 1:1k.1a 1:1l.1a 1:30.27.1a 1:30.30.1a 1:30.1e.1a 1:30.1f.1a 1:30.1g.1a
1:30.1h.1a 1:30.1i.1a 1:30.1j.1a 1:30.1k.1a 1:30.1l.1a 1:1e.27.1a 1:14.2p.15 1:14.2q.15 1:14.2r.15 1:14.2s.15
1:14.2t.15 1:14.2u.15 1:14.2v.15 1:14.2w.15 1:14.2x.15 1:14.2y.15 1:14.2z.15 1:14.30.15 1:14.36.32.15 1:14.32.15
1:14.33.15 1:14.34.15 1:14.35.15 1:14.36.15 1:14.37.15 1:14.38.15 1:14.39.15 1:14.3a.15 1:14.3a.3a.15 1:14.3c.15
1:14.3d.15 1:14.3e.15 9:7a3 18:2q6l m:9oc 1:9oc 2:7b6 9:7bj g:7c3 2d:1b 2:2g l:6q6 4:7f4 8:jt 2:7fb 2:7fh 8:6q6 1:7io
i:pg 5:7g6 2:7g6 3:1f3w a:4ik 3:4ik 1:4w 3:6ym o:4w z:ig s:1ggu 2:8vd 2:2rd6 7:8ty u:6rz k:4ik 7:2jx4.2jxh
1:2jx4.2jxh.2jxq 1u:1v4 58:14 1:15 5:1o 1:1q 3:14 1:15 1:3f 1:3h w:17 1:19 18:wk5 6:2k.40l 1:40g.1b 2:1b 2:2k c:2c
d:9i2 1:9i3 1:7sc 1:7sd 8y:3c 1:3c 1j:6nz.4ii 2:6o3.6o2 9:6nz.6o2 1:6o3.4ii 16:8xu 1:89l 10:6ym 6:9j0 i:1f40 9:2rei
l:1m.6mq 1:2k 1:1b.lg 2:1b 1:2k 7:ig 1:1f3c b:hv.hv.hv.hv h:4im 2:8ce 1:1q.1q 1:4ii 1:17.lm 1:17.le 1:17.lf 1:17.mb
1:17.mo 1:17.6f6 2:19.lv 1:19.mb 5:3c 1:3c.lj 1m:3i.lj 4:1p.6i8 6:1m.1m.1p 1:1p.1p 1:1p.1p.1p 1b:1q.1o 1e:40g.40l
10:1b.1b.1b 2:1b.1b 8y:xhu 14:20.mh 2:23.mh 7:1fdr 6:xvk e:pf 1:36 1:pg 2:x3m 1:x3n 5:20 4:30 2:23 1:8o 1:qj 2:25 2:26
4:27 1:33 1:ps 2:28 1:34 1:1v 1:2r 1:2c 2:2h 2:py 1:hk 1:2g 1:qv 1:q0 3:qx 3:1o.53 6:19 c:1b 4:1l 2:1f 1:f1 3:24 1:in
1:1i m:1ew0 h:2k.2k 1k:27.mu 6:g5 1:2e 1:1x 1:b2 6:1f3s 1:27.mw 7:53.53.53 1:bt 6:30 2:x 3:27 1:29 4:ig 4:2g 3:pg
3u:lm 1c:19.lk 4:3i.lj 1:3i.mb 7:40l 1:40g 1:14.14 1:15.15 7:4w 1:53 1:13 7:61r 4:8xu 3:1p 1u:fh7 1:fh6 2:fjv 4:g76
2:aim 3:g1s 1:i77 1:i76 2:ik3 1:inu 1:itt 2:ix0 1:b96 1:jf0 1:jzp 2:k4h 3:l8a 1:lal 1:lch 1:ldh 1:ldm 1:m7g 1:mjv
2:ffw 2:mnh 3:p5e 2:ny3 2:oop 2:p5f 1:p5e 7:paa 1:pds 4:prt 1:prt 1:prt 1:qj2 1:qxw 1:r5s 1:r5r 1:r7l 3:rkw 1:rvh
2:sbq 1:sdy 1:sdy 2:tnh 1:tc5 1:tiv 1:tiw 1:tj3 1:tm0 2:tnh 2:tw2 1:u06 1:u45 1:u6m 1:u72 1:u73 2:u74 1:uar 2:ui4
2:unw 1:uws 3:vc6 1:vd0 2:k21 1:vgw 1:l7z 1:vi7 1:o9o 1:vix 2:fi8 1:vj3 d:9oc 1:ffs 1:2k 1:1b 1:fh5 1:fid 1:fik 1:fj4
1:fju 1:g1r 1:g2t 1:g2z 1:g3m 1:g46 1:g4r 1:g68 1:g6t 1:g74 1:gbf 1:ge1 1:get 1:gey 1:gfs 1:gg1 1:ggs 1:gh5 1:ghu
1:gja 1:gjs 1:gkj 1:gkj 1:h7j 1:h7j 1:hky 1:hl6 1:hlh 1:hlz 1:ho3 1:i1c 1:i2o 1:i60 1:i6n 1:i76 1:i7s 1:i9a 1:i9d
1:ijf 1:ijp 1:ik1 1:ike 1:inm 1:inu 1:inz 1:ir8 1:iri 1:irv 1:is3 1:its 1:iu9 1:iur 1:iwz 1:jd4 1:jee 1:jez 1:jzj
1:jzo 1:k1z 1:k2f 1:k2s 1:k3d 1:k4g 1:k4l 1:kc0 1:kco 1:kdk 1:l5s 1:l7m 1:l89 1:l9v 1:laj 1:las 1:laz 1:lcf 1:lck
1:ldg 1:m7f 1:mju 1:mk6 1:mkb 1:mkf 1:mkn 1:ml5 1:ml7 1:mng 1:mtg 1:mtl 1:n30 1:n3a 1:n4o 1:n4v 1:n54 1:n5c 1:n7v
1:n82 1:nee 1:nel 1:nfy 1:ngf 1:nhq 1:nob 1:noi 1:noz 1:ny2 1:o1k 1:o1q 1:o6s 1:o97 1:oah 1:okz 1:ooo 1:p4m 1:p5d
1:p6y 1:p8d 1:pa9 1:pak 1:paq 1:pbn 1:pdr 1:pe1 1:pnn 1:pnu 1:po3 1:poc 1:pos 1:pp7 1:ppb 1:pri 1:prm 1:prs 1:qj1
1:qjv 1:qww 1:qx8 1:qxv 1:r5q 1:r63 1:r82 1:r9c 1:rp3 1:rpi 1:rpx 1:rqw 1:rrx 1:rxg 1:rxs 1:rzn 1:s6j 1:s7e 1:sd7
1:sds 1:sdx 1:sk1 1:sp5 1:ssm 1:sss 1:ssx 1:tiv 1:tj4 1:tng 1:trq 1:trt 1:tt4 1:tw1 1:twe 1:twi 1:twp 1:tzf 1:u0d
1:u0j 1:u0x 1:u5k 1:u6z 1:u73 1:uc6 1:uc9 1:ucs 1:ujs 1:ul4 1:ulb 1:un9 1:unj 1:unm 1:unw 1:uoq 1:uzp 1:vat 1:vb3
1:vc5 1:vcr 1:vcz 1:vd9 1:vdd 1:veh 1:vel 1:vf2 1:vf7 1:vfk 1:vgb 1:vgq 1:vgy 1:vil 1:vj0 1:vj4 1a:13.13 4:27 1:7sc
1:7sd 9:6go 2:14 1:15 o:md 6:1b 3:6go 2:gg1 1:gg4 1:gg5 l:7sc 15:9nc y:lm 6:1p 4:fjv 4:ijp 3:gbf k:hlh 9:ggs 3:fik
3:1b 1:g2z u:gkj e:53 1i:3cw 1:3cw.3cw 1:3cw.3d5 1:3cy 1:3cy.3d8 1:3cy.3de 1:3cz 1:3cz.3cz 1:3d1 1:3d1.3cw 1:3d1.3d2
1:3d1.3d3 1:3d1.3d5 1:3d1.3dc 1:3d1.3dd 1:3d1.3de 1:3d2 1:3d3 1:3d3.3d3 1:3d3.3d5 1:3d5 1:3d5.3d5 1:3d7 1:3d8
1:3d8.3d8 1:3da 1:3db 1:3dc 1:3dd 1:3de 2:9qn.ffs 2:9qp.ffs 2:9qr.ffs 2:9qt.ffs 2:9qv.9qn 1:9qv.9qn.ffs 1:9qv.ffs
3:9r0.9qr 1:9r0.9qr.ffs 1:9r0.ffs 2:9oc 1:9oc.ffs 1:ffs 2:3cy.3cy 1:3cy.3cz 1:3cy.3d5 1:3cy.3eo 1:3d1.3cw.3d5
1:3d1.3cz 1:3d1.3d3.3d5 1:3d1.3eo 1:3d1.3fd 1:3d2.3d3 1:3d2.3d5 1:3d2.3eo 1:3d2.3d7 1:3d3.3cw 1:3d3.3cz 1:3d3.3d5.3cw
1:3d3.3d5.3cz 1:3d3.3d8 1:3d3.3dc 1:3d3.3d7 1:3d3.3d3.3d7 1:3d5.3cw 1:3d5.3cy 1:3d5.3cz 1:3d5.3d3 1:3d5.3d8 1:3eo
1:3d7.3d7 1:3f0 1:3d7.3d5 1:3d7.3eo 1:3dd.3d7 1:3de.3de 1:3fd 1:9qz.9qp 1:9qz.9qp.ffs 1:9qz.ffs 1:9r4.9qt
1:9r4.9qt.ffs 1:9r4.ffs 2:9sd.ffs 1u:9oc 1:ffs 2:1b 1:2k 2:fh7 4:fid 1:7sc 4:fh6 1:fh5 w:14.3cw.15 1:14.3cy.15
1:14.3cz.15 1:14.3d1.15 1:14.3d2.15 1:14.3d3.15 1:14.3d5.15 1:14.3d7.15 1:14.3d8.15 1:14.3da.15 1:14.3db.15
1:14.3dc.15 1:14.3dd.15 1:14.3de.15 1:14.3cw.9qn.15 1:14.3cy.9qn.15 1:14.3cz.9qn.15 1:14.3d1.9qn.15 1:14.3d2.9qn.15
1:14.3d3.9qn.15 1:14.3d5.9qn.15 1:14.3d7.9qn.15 1:14.3d8.9qn.15 1:14.3da.9qn.15 1:14.3db.9qn.15 1:14.3dc.9qn.15
1:14.3dd.9qn.15 1:14.3de.9qn.15 1:14.3d8.9r0.15 1:14.3d7.9qv.3d8.9qr.3cy.15 1:14.3d7.9qv.3de.9r0.15 2:14.9oc.15
1:14.fik.15 1:14.fex.15 1:14.h5n.15 1:14.fis.15 1:14.g31.15 1:14.fer.15 1:14.g2z.15 1:14.fh9.15 1:14.gg1.15
1:14.kco.15 1:14.m7f.15 1:14.ldg.15 1:14.kdk.15 1:14.ssx.15 1:14.h7j.15 1:14.k4l.15 1:14.kkq.15 1:14.kcp.15
1:14.ny6.15 1:14.glp.15 1:14.mm1.15 1:14.rs1.15 1:14.nz1.15 1:14.gc4.15 1:14.fkz.15 1:14.gos.15 1:14.i1y.15
1:14.nhf.15 1:14.flt.15 1:14.rt3.15 1:14.ggk.15 1:14.nzh.15 1:14.fm9.15 1:14.pnu.15 1:14.po3.15 3h:30.kco 1:1e.kco
1:1f.kco 1:1g.kco 1:1h.kco 1:1i.kco 1:1j.kco 1:1k.kco 1:1l.kco 1:30.27.kco 1:30.30.kco 1:30.1e.kco 3x:27.m9l 1:30.m9l
1:1e.m9l 1:1f.m9l 1:1g.m9l 1:1h.m9l 1:1i.m9l 1:1j.m9l 1:1k.m9l 1:1l.m9l 1:30.27.m9l 1:30.30.m9l 1:30.1e.m9l
1:30.1f.m9l 1:30.1g.m9l 1:30.1h.m9l 1:30.1i.m9l 1:30.1j.m9l 1:30.1k.m9l 1:30.1l.m9l 1:1e.27.m9l 1:1e.30.m9l
1:1e.1e.m9l 1:1e.1f.m9l 1:1e.1g.m9l 34:30.k4l 1:1e.k4l 1:1f.k4l 1:1g.k4l 1:1h.k4l 1:1i.k4l 1:1j.k4l 1:1k.k4l 1:1l.k4l
1:30.27.k4l 1:30.30.k4l 1:30.1e.k4l 1:30.1f.k4l 1:30.1g.k4l 1:30.1h.k4l 1:30.1i.k4l 1:30.1j.k4l 1:30.1k.k4l
1:30.1l.k4l 1:1e.27.k4l 1:1e.30.k4l 1:1e.1e.k4l 1:1e.1f.k4l 1:1e.1g.k4l 1:1e.1h.k4l 1:1e.1i.k4l 1:1e.1j.k4l
1:1e.1k.k4l 1:1e.1l.k4l 1:1f.27.k4l 1:1f.30.k4l ay:dcr 51:beb sk:jrd 49:kc6 2j:ph2 5:imo 1:dgg 2w:kx5 ws:k83 sk:kdi
hf:ra6 1fu:9oc 1i:2k 9:1b 8m:fsy 4v:fuk 117:gur ag:gkj ay:hgr 22:hkv 1s:h7j ck:hz4 oi:ilu t3:jee te:k89 4y:peu 3:pg0
1:pfu 3:phd 5:pif b:plz 23:kjj fj:kyv yz:lzt 1vw:nrj 11d:os6 pz:pj5 pd:qbj bu:qip s7:rct 9k:rkf 5y:rqb 83:rye 2u:s1m
4y:s63 2w:s9z db:slq jz:t66 ln:trr 1hm:v9f 40:vdd 6p:cop 3r:wim 6:wj0 34:wik 36:wiw 87:wjj 2g:wji s:wic 66:wjk a:wjm
a:wje 3:wj4 46:wiv 3c:1u 1:28 1:2s 1:1w 1:2c 2:1z 1:23 2:22 1:1v 1:au 1:2i 1:1y 1:6k2 1:25 1:26 1:24 1:2b 1:2a 1:x3y
1:g5 1:2e 1:20 3:2e.2e 1:2g 1:2h 2:1t 1:8rz 1:1x 1:b2 1:30 1:27 1:2d 1:11k 3:1a 1:18 1:1a.1a 1:1a.18 2:1m 1:19.1a 1:1p
7j:1a 1i:1e 1:bs 1:30 1:2x 5:x4m 1:qx 3:tm.30 1:jt.2q.2x n:ig 1:1fjf j:li 2:jr n:2w.199 3:27.27 1:33.33 1:1f3c 7:t4
g:8s5 t:g5 d:ps 4:2e c:1r 4:1e 1:le 1:lg 3:wz7.wz7 y:kq h:x3p 1:2c.1f 1:38.f1 1:b4 7:37 1:1t.1t 1:2p.2p 1:1t.27
1:2p.33 1:1t.2d 1:2p.39 1:1t.2e 1:2p.3a 1:1t.2e 1:2p.3a 1:1t.2h 1:2p.3d 3:23.mu a:27.mu 1:33.mu 3:27.27 1:33.33 b:1e
7:3a.3a.me 9:1f 1:f1 3:1l 9:38.2u 1:12 1:x2y g:1m 3:13 3:53 9:1y 1:2u 1:1fde 1:1fei 2:ii 2:39 c:1f 6:wk5 1:22 1:2g
1:1u 1:67 2:qx 1s:9oc 78:1i3g 1:1i3f 2s:3cz.3d2 1:3cz.3d3 1:3cz.3d5 1:3cz.3d8 1:3d1.3cw 1:3d1.3cw.3cw 1:3d1.3cz
1:3d1.3cz.3cz 1:3d1.3d2 1:3d1.3d3 1:3d1.3d3.3d3 1:3d1.3d3.3d7 1:3d1.3d5 1:3d1.3d8 1:3d1.3db 1:3d2.3cw 1:3d2.3cz
1:3d2.3d5 1:3d3.3d5.3dc 1:3d3.3db 1:3d3.3de 1:3d5.3d5.3d3 1:3d7.3d1 1:3d7.3de 1:3d8.3d8.3de 1:3dc.3dc 1:3dd.3de
1:3de.3d5 1:3fd.3fd x:xib 15:xjk 9:19e 1e:xn7 y:xna 7j:2t 3:2u 8:33 1:33.mw 1:gk.mw 2:d9.33.mw 1:d9.33.mu 5:36 1:36
5:hv 1:39 3:36.32.mb 1:39 1:qv 2:qv 5:3d 8:gk.2t 1:39.33 e:hs 1:5qz 2:33.m3 1:2x c:36 2:3a.3a 4:i5 4:ik 3:33.mu 2:gy
3:3e 8:x3n 1:39.mu 3:at 3:hs 7:3a 1:37 4:in 1:2r 3:5qw 4:8o 5:33.mu 8ol:9qv.9qt 1:9qv.9qv.ffs 1:9qz.9qn 1:9qz.9qn.ffs
1:9qz.9qr 1:9r0.9qt 1:9r0.ffs.ffs 1:9r4.9qn.ffs 1:9r4.9qv 1:9oc.9qn 1:9oc.9qr 1:9oc.9qr.ffs 1:9oc.9qv 1:ffs.9qp.9qv
1:ffs.9qp.ffs 1:ffs.9qt 1:ffs.9qt.ffs 1:ffs.9qv.ffs 1:ffs.9qz 1:ffs.9r4 1:ffs.ffs 1:9sd.9qn 1:9sd.9qr.ffs 5:3cy.3d1
1:3cy.3da 1:3cz.3cz 1:3cz.3cz.3d3 1:3cz.3d3 1:3cz.3d5 1:3cz.3d5.3cw 1:3cz.3d8 1:3cz.3da 1:3cz.3dc 1:3d1.3cw.3cw
1:3d1.3cw.3de 1:3d1.3d1.3db 1:3d1.3d2.3de 1:3d1.3d3.3cz 1:3d1.3d3.3dd 1:3d1.3f0 1:3d1.3fd.3de 1:3d1.3d7 1:3d2.3cy
1:3d2.3cy.3cy 1:3d2.3d2 1:3d2.3d3.3d5 1:3d2.3d8 1:3d3.3cz 1:3d3.3d1.3dd 1:3d3.3d2 1:3d3.3d3 1:3d3.3d5.3cz 1:3d3.3d8
1:3d3.3da 1:3d5.3d2 1:3d5.3d3.3d7 1:3d5.3d5.3cw 1:3d5.3d5.3cz 1:3d5.3eo 1:3d5.3d8 1:3d5.3da 1:3d5.3dc 1:3d1.3de
1:3eo.3d3 1:3eo.3d3.3d7 1:3f0.3d2 1:3f0.3de 1:3d8.3d3 1:3d8.3d3.3d3 1:3d8.3d8 1:3dd.3d5 1:3dd.3dc 6x1:2u.2u 1:2u.2x
1:2u.30 1:2u.2u.2x 1:2u.2u.30 2:37.38 d:12s.12u 1:12s.12d 1:12s.12j 1:132.12u 1:12s.12l a:15c 1:15f 7:19.lj
12:15c.1dlx 70:17s.17y 3r:17s.17y 30:14 1:15 4z:30.18k.18k.18x.19s.33 13:8yf n:1m 1:7b6 o:jt 1:jt 1:jt 1:jt 1:2n 1:2n
1:2n 9:19 g:2k 4l:9oc 1a:14 2:15 1:1e7z u:7b6 2:9i4 1s:9ln 1:9lo 1w:jt 5:30 5:7fu 7o:53 3x:26.lm 8:2g.mu 1:2e.mu
1:30.mu.30.mu.2b.mu 1:30.mu.30.mu 6h:1u 3:pg 1:1x 1:1y 3:30 3:g5 3:2g 2:27 2:4ik 1:28 1:2b 1:2c 4:17 5:1t 1:1u 1:1v
1:pg 2:1y 6:27 2:rc 3:25 1:2c 1:2h 1:py 1:2g 1:q0 1:q1 p:20 i:17z 3:18o 4:187 a:185 3:2i c:1u 1:1v 7:30 8:25 1:rc 3:2c
2:2g 3:1k 5:16 1:30 2:2g 2o:1fbl h:1fbn 7:1kxk 2v:b4 3:27 d:wl2 4:1v 6:24 5:2b 3:au 2:t4 4:x3n 1:ii 2:33 h:2r 6:in
5:37 3:gk 2:5qm 1l:1fhc 16:g5 4:2a e:27 1:ig 1:66 a:2d 3:q0 1:1j 6:i4 3:qj f:33 c:39 3:qw q:26 3:27 2:23 4:1v 1:2e
8:1y 1:24 1:2g 103:mb m:1a 7:1gly.1gly ff:1h4s z:1h4q t2:1v4 7g:1v4 3:mb 8m:lm 7n:1ik4.1iki.1ij6 6:1ik4.1iki.1ijc
b:1ik4.1iki.1ijn 6:1ik4.1iki.1ijt 3:1ik4.1iki.1ijw 2:1ik4.1iki.1ijy t:1ikr.1ikr 37:li.lj 2:1vn 2:mb 2:3a.3a.lj b:27
4z:1ivu 1:1ivv 1a:1ivw 1:1ivx 11:1ite 1:1ite 2x:1iyp.1iyp 5a:36.32 6:3a 4:3a.3a 4:3a.3a 1:3a.3a b5:2e 2:1y 1:24 1:2h
2:1x 2:6pz 1:2i 3:1l 2:1x 1:1g 3:24 3:27 2:4ik 1:2d 3:1h 1:2c 4:3a 1:37 1:1y 1:2x 1:3e 2:1j 2:33 2:1f 2:1l 2:x3n 7:1i
1:1l 1:33 1:39 4:3d 4:27 3:36.32 1:19l 1:2i 1:2e.2e 3:1v 3:2g 3:2e.2e 3:1v dw:1jvp.1jvz 1:1jvp.1jw0 1:1jvp.1jvp
1:1jvp.1jvp.1jvz 1:1jvp.1jvp.1jw0 2:1jvv.1jvz 1:1jvv.1jvv 1:1jvv.1jvv.1jvz 6:1jw3.1jvz 1:1jw3.1jw0 1:1jw3.1jw3
1:1jw3.1jw3.1jvz 1:1jw3.1jw3.1jw0 96:1k5d.1k5d 2w:1k8i 4en:1ggu bv2:pf 1:2e 2:2c c:24 4:pg 2:wuw a:wl2 2:30 5:b4 8:2a
5:2b 1:1f 2:g5 2:1q 1:1t 2:2d 1:2h e:13 1:13 jb6:3f 2h:1a 49:1f 5:t4 2:2e 2:2k 3:1j 1:1y 1:1f3w 1:wl2 1:2a 1:8rz
3:27.mu 2:wk5 5:b4 1:v4 8:24 1:wl2 5:x6j 6:1o 1:1q 3:1b 1:2k a:11k 4g2:30 2:19f 2:1k 1:6pu 1:6pu.mu 1mb:27.1a 1:27.18
1:30.18 1:1e.18 1:1f.18 1:1g.18 1:1h.18 1:1i.18 1:1j.18 1:1k.18 1:1l.18 5:10.6hs 1:14.1t.15 1:14.1u.15 1:14.1v.15
1:14.1w.15 1:14.1x.15 1:14.1y.15 1:14.1z.15 1:14.20.15 1:14.30.15 1:14.22.15 1:14.23.15 1:14.24.15 1:14.25.15
1:14.26.15 1:14.27.15 1:14.28.15 1:14.29.15 1:14.2a.15 1:14.2b.15 1:14.2c.15 1:14.2d.15 1:14.2e.15 1:14.2e.2e.15
1:14.2g.15 1:14.2h.15 1:14.2i.15 1:14.2b.15 1w:1v.6hs 5u:14.kdo.15 1:14.fex.15 1:14.fik.15 1:14.i2x.15 1:14.m9l.15
1:14.jf7.15 1:14.nh3.15 1:14.gd9.15 1:14.k0n.15 5m:7jx 6:7jy 1:7jx rr:29.1x 1:wuw 1:pg 2:1f3w 3:1t.2a 1:2e.5wk c:27.mu
k:1f3c 10:1v 8:4ik 8:37.37.37 2:6rz a:2c 3:25.1u 1:2e.1u w4:27 1:30 1:1e 1:1f 1:1g 1:1h 1:1i 1:1j 1:1k 1:1l 73j:7sc
`;

"""The script of each Unicode character, by ICU's numbers of scripts.

Source: the Script property of the Unicode character database, as TensorFlow's UnicodeScript gives it.
"""

from __future__ import annotations

import base64
import functools
import zlib

import numpy as np

_LAST = 0x10FFFF

# Distances between the first characters of runs of one script, then the runs' scripts; each a number of
# base 128, low digits first, the high bit says that more follow.
_RUNS = (
    "c-p0uYm8l0701ti?Y+<Yp8J?Pk9%k4-rHg3&UD_Lb~@7+Gi_mL(`H(z_CX10BCr%H4_ge60Fw$7VnNXGu+dVbBB&8iX|1AEqv3-w"
    "@q-dg3?KYzV)$UxFD9;i?%cKmEj8i({%4<i_TFc$b=F>cI~&Vxc??;Yc2w~z)o%<H@77SH0TH0&Dq<$dJqCIWsM7=~O!=MKjSO5Q"
    "b`EL?qcRSnC&7AB;}gj`Qlpeb7Xi^^D+*B--Ph|Zl{I`KYJ(@1H3jlt`_KeKC9&)3#u!=TT_ev*!IMb5e5epeIE`^bq5M~btftuW"
    "<bTty9kX_or&7Cxkl>0DEt3IKVo=4}*dDSU&}uUBb~|#)m%H`|O5BEC(C7}WxyFFRECZm79a#w*ZjQ=wFQ^U)4dlr*SDg56NGe{d"
    "(bZ>t8gxk8PDWanLejM@=+*t`mAreJ`c9&5C(#h}0&Nu^;z-)%axFXml*JlpH&acO-QDEUg6US<RODsgMXeMRV;dC3H&f__uFYM5"
    "(B0<^nYplvSjV!aafM7YtjlhssMbX^gKmmsc0&1??RrGbuJZM?$|^M;ctfOoUm;_2@7g?@y1@#gC0TP=3$s9N5=31tAB|s?Cgpn)"
    "a?wI|rDEEH2oy<YM%8l5vUM@zq7(V$O21%AQR_)>f&QtfhR=;*47J0?Yvf_tqXg}Nho#hZjg+x3eh+0?K5<wIH2GR%w_R-9NXiW1"
    "X5?zUajuHl>h)vT`zp?@oc-_1P)`MFDj5F(6%Xw7du~&c6bwcqDs-p)IX`x5qd;$jZZ!{tnyQ!zl60LmcbIm`rjSN6B%h^8?;MpR"
    "pV||*>lKe~`UlbNbuTui3>%cK-0%zezZ2zVY4t!tIh)_B&;l(%AC*zmWXnY%MyRS%(^8OPJTw%eEc2wKDd~C8C|QwUhvW`pBRC?#"
    "t;nKN_Xeud44H}qtdqf=;}r>|SNG}xe^rEMaE5}m(0@_N3>cPT7i(<@YE?fN7t6+UDU=OnYaO~sqgr}w&3BX1Qtw`^R_oVsuv&R-"
    "<hK~V;OW@gxpit~W~Jv2_~9#(nL$}Znji27cXt)rgLz%aVw0?L$qU^{6#V|+0E$ro!yD78m9>xDbtZK6#oJSA(=M6aeMWYbGGE3`"
    "FqJLh0jsIrb8Qs5nU*zPxVn?FI(H81Z`l<?Hm1}Xp&}<k9E5W|jZ)OP#oyJv=BVt@5hP)^s)>(etMxLh>|z9d=(=+6lgstO(^NVG"
    "WG6B>?%j45O!OPP-TJzZ;N9xG`t0Vj+N;_EI8Y%soC`w<x7D<~VfNp;O|S9tv({on$$!TD1@}EQ82tNMoS+pdul-}{(ZU@jqXJLL"
    "M*p?`FNFPcwaWYCRrI>{x#K9tdxFwYd>Yr;lg*xch$TfHHcCnPa_^FKNou4P{z!C+XyTa38f5<vddO3nw?AP-NnL9CfYur;gueyl"
    "mT%Y6@vM8z_6@%l1D&?OL}BCbb{jW)iZ}Y3Kl`M`sZJ+^$Qvcj^Q-7-8rHYOSvhX9=nH>{>9U-6!#a>H=^n?QJwKx|>TtZzi;J<I"
    "mh2Ar6)A}Oaf1|hoRFNW#tTZG7pRQ4{A<8eU--EH{_m;hty=Ux=*UR&=GvD!PUycyzpJ1A%MdCD7VrU_(uXh(5+~us%eEFT@!_*d"
    "X-Od`rE#~r&!HX`sE_yXo`?Bi{*=(e#Oa(6p%ZGpJh>~7{TQkr!&O(H_tLcT<tQ&<*=4A+Q|FFL(tiP`pSxmCapFS6SH=|vy1C}m"
    "cu*K}c$i00+EY3mfg23)c#~DUiq|!0pW><8xe54c;hq_uxq*ex`!<$)7|sQ_l=!7YkQR*6Vo6*U`-)Q%$(!tm2Pvawb#cmQ+D`K{"
    "mpt|w30QCW==b^#=Tqc`yafemxhN49oi?Y94HsC7mfPf3uswDXFBiUq&#-?4Hjt7;Qd%oEZsfa!aEG(wPQJ6i^X$y?d>3zO(DevE"
    "a_A!G@?s(}yNCFYc(K?>O6T`LiY@O(l}k(vzwwRs(MesWF%`H;V|c|9(mqLCnmoRPKWi;jxRT+0Jjs(AcmoG3CwPLt5347@FQwX*"
    "GIoK(eE1oB1uXjZqW1ItgM5&8KLt*;hL`dfo(A79+{^bq#1B2d4?M`0y}aFW8Z06{heiDqd<Ogr@LBLi%YA$wzX+=@3MauYK<fXS"
    "usXF=&!&3vQo@s$8TekR6RBQF^>V6C{yMC_)zpu`U$y!r_>%g0Q*VOb0DlMk>P333sn;*1AAdwYfz+2hKyKv**9qSMOT9hU)Z?kP"
    "o#!p^O)1CmJe+qRwR9Y!cWlFLMXBmGeja>ui5B<F`Q4Z-meBvr-E5gY&(Cl{Z>Ktz>bp%f>-UrLp*V^Te-iRbaMF|Ie*`B-dj"
)


@functools.cache
def _table() -> tuple[np.ndarray, np.ndarray]:
    """Where runs begin, and their scripts."""
    numbers: list[int] = []
    value = shift = 0
    for byte in zlib.decompress(base64.b85decode(_RUNS)):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    count = len(numbers) // 2
    return np.cumsum(numbers[:count]), np.array(numbers[count:], np.int32)


def scripts(points: np.ndarray) -> np.ndarray:
    """The scripts of code points, int32 of the same shape; -1 for numbers that are no code points."""
    starts, codes = _table()
    found = codes[np.searchsorted(starts, np.clip(points, 0, _LAST), "right") - 1]
    return np.where((points >= 0) & (points <= _LAST), found, np.int32(-1))

"""Sound: WAV files by the wave module, spectrograms by the definition of the Fourier transform."""

import io
import wave

import numpy as np

from . import case, floats, ints, text


def wav(samples, rate=16000):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return buffer.getvalue()


SAMPLES = ints(50, 2, low=-(2**15), high=2**15)
PLAYED = (SAMPLES / 2**15).astype(np.float32)
FILE = wav(SAMPLES)
RATE = np.array(16000, np.int32)
# A longer format chunk, and another chunk in front of the data.
LONGER = FILE[:16] + b"\x12\0\0\0" + FILE[20:36] + b"\0\0LIST\4\0\0\0abcd" + FILE[36:]
SOUND = np.array([[0.1, -0.1], [1.5, -1.5], [0.9, 2e-5], [0, -1e-5]], np.float32)


def rounded(audio, rate):
    scaled = np.clip(np.floor(np.abs(audio) * 2**15 + 0.5) * np.sign(audio), -(2**15), 2**15 - 1)
    return text(wav(scaled.astype(int), int(rate)))


def spectrum(window_size, stride, magnitude_squared=False):
    def expect(audio):
        length = 2 ** int(np.ceil(np.log2(window_size)))
        hann = np.sin(np.pi * np.arange(window_size) / window_size) ** 2
        turns = np.exp(-2j * np.pi * np.outer(np.arange(length // 2 + 1), np.arange(window_size)) / length)
        starts = range(0, len(audio) - window_size + 1, stride)
        rows = [turns @ (audio[start : start + window_size] * hann[:, None]) for start in starts]
        found = np.abs(np.array(rows)).transpose(2, 0, 1)
        return found**2 if magnitude_squared else found

    return expect


def mel(frequency):
    return 1127 * np.log1p(frequency / 700)


def coefficients(spectrogram, rate, upper=4000.0, lower=20.0, filters=40, count=13):
    channels, windows, bins = spectrogram.shape
    out = np.zeros((channels, windows, count))
    edges = np.linspace(mel(lower), mel(upper), filters + 2)
    per_bin = rate / 2 / (bins - 1)
    for place in np.ndindex(channels, windows):
        logs = np.zeros(filters)
        for number in range(filters):
            left, middle, right = edges[number : number + 3]
            total = 0.0
            for k in range(int(1.5 + lower / per_bin), int(upper / per_bin) + 1):
                at = mel(k * per_bin)
                weight = min((at - left) / (middle - left), (right - at) / (right - middle))
                total += max(weight, 0) * np.sqrt(float(spectrogram[place][k]))
            logs[number] = np.log(max(total, 1e-12))
        for number in range(count):
            angles = number * np.pi / filters * (np.arange(filters) + 0.5)
            out[place][number] = np.sqrt(2 / filters) * np.sum(logs * np.cos(angles))
    return out


POWERS = floats(2, 3, 129, low=0.1, high=3)
CLOSE = {"rtol": 1e-4, "atol": 1e-4}
MELS = {"upper_frequency_limit": 3500.0, "lower_frequency_limit": 100.0}
MELS |= {"filterbank_channel_count": 20, "dct_coefficient_count": 7}
CASES = [
    case("DecodeWav", text(FILE), expect=(PLAYED, RATE)),
    case("DecodeWav", text(LONGER), expect=(PLAYED, RATE), note="longer"),
    case(
        "DecodeWav",
        text(FILE),
        desired_channels=3,
        desired_samples=60,
        expect=(np.pad(PLAYED[:, [0, 1, 1]], [(0, 10), (0, 0)]), RATE),
        note="more",
    ),
    case(
        "DecodeWav",
        text(FILE),
        desired_channels=1,
        desired_samples=7,
        expect=(PLAYED[:7, :1], RATE),
        note="less",
    ),
    case("EncodeWav", SOUND, np.array(8000, np.int32), expect=rounded),
    case(
        "EncodeWav",
        np.array([[np.nan, np.inf, 3e38, -np.inf]], np.float32),
        np.array(8000, np.int32),
        expect=text(wav(np.array([[0, 2**15 - 1, 2**15 - 1, -(2**15)]]), 8000)),
        note="undefined",
    ),
    case("EncodeWav", PLAYED, RATE, expect=text(FILE), note="back"),
    case("AudioSpectrogram", floats(60, 1), window_size=16, stride=7, expect=spectrum(16, 7), **CLOSE),
    case(
        "AudioSpectrogram",
        floats(60, 1),
        window_size=20,
        stride=30,
        magnitude_squared=True,
        expect=spectrum(20, 30, True),
        note="squared",
        **CLOSE,
    ),
    case(
        "AudioSpectrogram",
        floats(60, 2),
        window_size=20,
        stride=10,
        expect=spectrum(20, 10),
        oracle="TensorFlow lets channels run into one another",
        note="channels",
        **CLOSE,
    ),
    case(
        "AudioSpectrogram", floats(10, 2), window_size=16, stride=7, expect=np.zeros((2, 0, 9)), note="short"
    ),
    case("Mfcc", POWERS, RATE, expect=coefficients, **CLOSE),
    case(
        "Mfcc",
        POWERS,
        np.array(8000, np.int32),
        expect=lambda x, rate: coefficients(x, rate, *MELS.values()),
        note="attributes",
        **MELS,
        **CLOSE,
    ),
    case("Mfcc", np.zeros((1, 0, 129), np.float32), RATE, expect=np.zeros((1, 0, 13)), note="empty"),
]

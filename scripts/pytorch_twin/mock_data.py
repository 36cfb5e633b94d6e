"""The trainer's mock data (runtime/train/mock_data.cpp) and initial weights (runtime/nn/parameter.cpp), to the bit, of one rank."""
import torch

MASK = (1 << 64) - 1
MULTIPLIER, INCREMENT, NUM_NOISE_VALUES = 5, 7, 4
FNV_START, FNV_PRIME = 14695981039346656037, 1099511628211


class SplitMix:
    def __init__(self, state):
        self.state = state & MASK

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


def one_sequence(seed, sample, length, vocabulary):
    random = SplitMix(SplitMix(seed).next() ^ sample)
    tokens = [random.next() % vocabulary]
    for _ in range(length):
        tokens.append((tokens[-1] * MULTIPLIER + INCREMENT + random.next() % NUM_NOISE_VALUES) % vocabulary)
    return tokens


def micro_batch(training, vocabulary, step, index):
    """ids and labels, [S, B]."""
    first = step * training["global_batch_size"] + index * training["micro_batch_size"]
    samples = range(first, first + training["micro_batch_size"])
    tokens = torch.tensor([one_sequence(training["seed"], sample, training["seq_length"], vocabulary) for sample in samples]).t()
    return tokens[:-1].contiguous(), tokens[1:].contiguous()


def seed_of(name, seed):
    state = FNV_START ^ seed
    for byte in name.encode():
        state = ((state ^ byte) * FNV_PRIME) & MASK
    return state


@torch.no_grad()
def initialise(model, seed, std_deviation):
    for name, parameter in model.named_parameters():
        if parameter.dim() < 2:
            parameter.fill_(1)
        else:
            generator = torch.Generator().manual_seed(seed_of(name, seed))
            parameter.copy_(torch.empty(parameter.shape).normal_(0, std_deviation, generator=generator))

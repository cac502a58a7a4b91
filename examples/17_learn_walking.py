"""A biped learns to walk at a commanded speed: proximal policy optimization in numpy, over 1,024 environments that step together.

python examples/17_learn_walking.py train [folder] [minutes]     learns and writes folder/weights.npz after every tenth round
python examples/17_learn_walking.py walk [weights.npz]           walks at several speeds (by default with the weights next to this file)
python examples/17_learn_walking.py picture [file.png]           draws one stride

Training continues from folder/checkpoint.npz if it exists. Extra: linkwright[gym].
"""

import sys
import time
from pathlib import Path

import gymnasium
import numpy as np

TASK = "linkwright.rings.control.gym:linkwright/BipedWalk-v0"  # with the module that registers it
WEIGHTS = Path(__file__).parent / "17_learn_walking.npz"
HIDDEN = 64
ENVIRONMENTS, STEPS, EPOCHS, BATCHES = 1024, 24, 4, 4
DISCOUNT, TRACE, CLIP = 0.99, 0.95, 0.2
DIVERGENCE = 0.01  # of the policy per round, which sets the rate
SETTLED = 1.0  # s, after which the speed of an episode counts


# ---------------------------------------------------------------- networks


def network(random, inputs, outputs, last):
    """Weights of three layers."""
    sizes, out = (inputs, HIDDEN, HIDDEN, outputs), []
    for k in range(3):
        scale = last if k == 2 else 1.0
        out += [(scale * random.normal(size=sizes[k : k + 2]) / np.sqrt(sizes[k])).astype(np.float32), np.zeros(sizes[k + 1], np.float32)]
    return out


def forward(w, x):
    """Outputs, and what the derivative needs."""
    one = np.tanh(x @ w[0] + w[1])
    two = np.tanh(one @ w[2] + w[3])
    return two @ w[4] + w[5], (x, one, two)


def backward(w, kept, slope):
    """Derivatives of a sum by the weights, from those by the outputs."""
    x, one, two = kept
    at_two = (slope @ w[4].T) * (1.0 - two**2)
    at_one = (at_two @ w[2].T) * (1.0 - one**2)
    return [x.T @ at_one, at_one.sum(0), one.T @ at_two, at_two.sum(0), two.T @ slope, slope.sum(0)]


class Adam:
    """First-order optimization of a list of arrays."""

    def __init__(self, weights):
        self.mean, self.square, self.count = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights], 0

    def move(self, weights, slopes, rate):
        """Step against the slopes, whose norm is limited to 1."""
        self.count += 1
        size = np.sqrt(sum(float((g**2).sum()) for g in slopes))
        for w, g, m, s in zip(weights, slopes, self.mean, self.square, strict=True):
            g = g * min(1.0, 1.0 / (size + 1e-9))
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            w -= rate * (m / (1 - 0.9**self.count)) / (np.sqrt(s / (1 - 0.999**self.count)) + 1e-8)


# ---------------------------------------------------------------- learning


class Learner:
    """Policy, critic and what they need to go on."""

    def __init__(self, envs, seed):
        self.random = np.random.default_rng(seed)
        n, m = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
        self.actor, self.critic = network(self.random, n, m, 0.01), network(self.random, n, 1, 1.0)
        self.noise = [np.full(m, -0.7, np.float32)]  # logarithm of the deviation of actions
        self.rate, self.rounds = 1e-3, 0
        self.weights = [*self.actor, *self.noise, *self.critic]
        self.adam = Adam(self.weights)

    def save(self, path):
        """Write everything that continues from here."""
        arrays = {f"w{k}": w for k, w in enumerate(self.weights)}
        arrays |= {f"m{k}": w for k, w in enumerate(self.adam.mean)} | {f"s{k}": w for k, w in enumerate(self.adam.square)}
        np.savez(path, **arrays, rate=self.rate, rounds=self.rounds, count=self.adam.count)

    def load(self, path):
        """Continue from a checkpoint."""
        with np.load(path) as z:
            for k, w in enumerate(self.weights):
                w[...], self.adam.mean[k][...], self.adam.square[k][...] = z[f"w{k}"], z[f"m{k}"], z[f"s{k}"]
            self.rate, self.rounds, self.adam.count = float(z["rate"]), int(z["rounds"]), int(z["count"])

    def play(self, envs, seen):
        """One round of steps: arrays (steps, environments, ...) and the last observation."""
        m, deviation = len(self.noise[0]), np.exp(self.noise[0])
        kept = {"x": [], "a": [], "r": [], "v": [], "end": []}
        for _ in range(STEPS):
            middle, value = forward(self.actor, seen)[0], forward(self.critic, seen)[0][:, 0]
            a = middle + deviation * self.random.normal(size=(len(seen), m)).astype(np.float32)
            after, reward, terminated, truncated, info = envs.step(a)
            reward = reward.astype(np.float32)
            if truncated.any():  # the episode would go on: the critic rates the rest
                rows = np.flatnonzero(truncated & ~terminated)
                if len(rows):
                    reward[rows] += DISCOUNT * forward(self.critic, np.stack([info["final_obs"][k] for k in rows]))[0][:, 0]
            for name, item in zip(kept, (seen, a, reward, value, terminated | truncated), strict=True):
                kept[name].append(item)
            seen = after
        return {name: np.stack(x) for name, x in kept.items()}, seen

    def learn(self, x, seen):
        """Improve by one round."""
        value, advantage, running = forward(self.critic, seen)[0][:, 0], np.zeros_like(x["r"]), 0.0
        for k in range(STEPS - 1, -1, -1):
            on = 1.0 - x["end"][k]
            running = x["r"][k] + DISCOUNT * value * on - x["v"][k] + DISCOUNT * TRACE * on * running
            advantage[k], value = running, x["v"][k]
        flat = {name: a.reshape(-1, *a.shape[2:]) for name, a in x.items()}
        target, advantage = (advantage + x["v"]).ravel(), advantage.ravel()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        before, old = forward(self.actor, flat["x"])[0], self.noise[0].copy()
        old_log = -0.5 * (((flat["a"] - before) / np.exp(old)) ** 2).sum(1) - old.sum()
        for _ in range(EPOCHS):
            for rows in np.array_split(self.random.permutation(len(target)), BATCHES):
                self._batch(flat["x"][rows], flat["a"][rows], old_log[rows], advantage[rows], target[rows])
            moved = forward(self.actor, flat["x"][::8])[0] - before[::8]
            divergence = float((0.5 * (moved / np.exp(self.noise[0])) ** 2).sum(1).mean())
            if divergence > 2.0 * DIVERGENCE:
                self.rate = max(self.rate / 1.5, 5e-5)
            elif divergence < 0.5 * DIVERGENCE:
                self.rate = min(self.rate * 1.5, 3e-3)
        self.rounds += 1

    def _batch(self, x, a, old_log, advantage, target):
        count = len(x)
        middle, kept = forward(self.actor, x)
        deviation = np.exp(self.noise[0])
        off = (a - middle) / deviation
        ratio = np.exp(np.clip(-0.5 * (off**2).sum(1) - self.noise[0].sum() - old_log, -20.0, 20.0))
        free = ~(((advantage > 0) & (ratio > 1 + CLIP)) | ((advantage < 0) & (ratio < 1 - CLIP)))
        slope = (-advantage * ratio * free / count)[:, None].astype(np.float32)
        actor = backward(self.actor, kept, slope * off / deviation)
        noise = (slope * (off**2 - 1.0)).sum(0) - 0.002  # the second is for entropy
        value, kept = forward(self.critic, x)
        critic = backward(self.critic, kept, ((value[:, 0] - target) / count)[:, None].astype(np.float32))
        self.adam.move(self.weights, [*actor, noise, *critic], self.rate)
        self.noise[0][...] = np.clip(self.noise[0], -2.3, 0.0)


def train(folder, minutes=np.inf, rounds=np.inf, seed=0, environments=ENVIRONMENTS, report=print):
    """Learn for some minutes or rounds; return the weights of the policy and (round, steps, reward per step, falls per minute)."""
    folder.mkdir(parents=True, exist_ok=True)
    envs = gymnasium.make_vec(TASK, num_envs=environments, autoreset_mode="SameStep")
    learner, checkpoint, history = Learner(envs, seed), folder / "checkpoint.npz", []
    if checkpoint.exists():
        learner.load(checkpoint)
    seen, _ = envs.reset(seed=seed)
    begun, dt = time.perf_counter(), envs.unwrapped.task.seconds
    while time.perf_counter() - begun < 60.0 * minutes and len(history) < rounds:
        x, seen = learner.play(envs, seen)
        learner.learn(x, seen)
        minute = x["end"].size * dt / 60.0
        history.append((learner.rounds, learner.rounds * x["r"].size, float(x["r"].mean()), float(x["end"].sum()) / minute))
        if learner.rounds % 10 == 0:
            report(
                f"round {learner.rounds:4}: reward {history[-1][2]:6.3f} a step, {history[-1][3]:6.1f} ends a minute, "
                f"noise {np.exp(learner.noise[0]).mean():.3f}, {time.perf_counter() - begun:6.0f} s",
                flush=True,
            )
            learner.save(checkpoint)
            np.savez_compressed(folder / "weights.npz", **{f"w{k}": w for k, w in enumerate(learner.actor)})
    envs.close()
    return learner.actor, np.array(history)


# ---------------------------------------------------------------- walking


def policy(path=WEIGHTS):
    """Weights of a policy from a file."""
    with np.load(path) as z:
        return [z[f"w{k}"] for k in range(6)]


def walk(weights, speeds, seed=10**6):
    """Walk for an episode at each speed; return mean speeds after the first second, and True for those that did not fall."""
    envs = gymnasium.make_vec(TASK, num_envs=len(speeds), autoreset_mode="Disabled")
    inner = envs.unwrapped
    seen, _ = envs.reset(seed=seed, options={"goal.speed": np.asarray(speeds)})
    up, first = np.ones(len(speeds), dtype=bool), np.zeros(len(speeds))
    for k in range(inner.task.steps):
        if k == round(SETTLED / inner.task.seconds):
            first = inner.episodes.stepper.q[:, 0].copy()
        seen, _, terminated, _, _ = inner.step(np.clip(forward(weights, seen)[0], -1.0, 1.0))
        if terminated.any():
            up &= ~terminated
            inner._ended = np.zeros(len(speeds), dtype=bool)
    gone = inner.episodes.stepper.q[:, 0] - first
    return gone / (inner.task.steps * inner.task.seconds - SETTLED), up


def picture(weights, path, speed=0.6, seed=10**6, every=5, count=8):
    """Draw one stride in two rows."""
    from PIL import Image

    env = gymnasium.make(TASK, render_mode="rgb_array").unwrapped
    seen, frames = env.reset(seed=seed, options={"goal.speed": speed})[0], []
    for k in range(100 + every * count):
        if k >= 100 and k % every == 0:
            frames.append(env.render()[45:665, 40:-30])
        seen = env.step(np.clip(forward(weights, seen[None])[0][0], -1.0, 1.0))[0]
    half = count // 2
    sheet = Image.fromarray(np.concatenate([np.concatenate(frames[:half], axis=1), np.concatenate(frames[half:], axis=1)]))
    sheet.resize((sheet.width // 2, sheet.height // 2), Image.Resampling.LANCZOS).quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"]:
        train(Path(sys.argv[2] if len(sys.argv) > 2 else "build/learn_walking"), float(sys.argv[3]) if len(sys.argv) > 3 else 60.0)
    elif sys.argv[1:2] == ["picture"]:
        picture(policy(), Path(sys.argv[2] if len(sys.argv) > 2 else "build/walking.png"))
    else:
        wanted = np.linspace(0.0, 0.8, 9)
        for v, found, up in zip(wanted, *walk(policy(sys.argv[2] if len(sys.argv) > 2 else WEIGHTS), wanted), strict=True):
            print(f"commanded {v:.1f} m/s: {found:6.3f} m/s, {'walks' if up else 'falls'}")

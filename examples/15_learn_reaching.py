"""A five-bar robot learns to reach: evolution strategies over 1,024 environments that step together, no package for learning needed.

python examples/15_learn_reaching.py [folder] [generations]      writes into folder (default build/learn_reaching); extra: linkwright[gym]

The policy is a network of 8 inputs, 16 hidden units and 2 torques. A generation tries 32 directions of its 178 weights, both ways, on 16
episodes each with the same starts and goals for all, and moves along the mean of the directions weighted by the ranks of their returns.
"""

import sys
import time
from pathlib import Path

import gymnasium
import numpy as np

TASK = "linkwright.rings.control.gym:linkwright/FiveBarReach-v0"  # with the module that registers it
DIRECTIONS, EPISODES, HIDDEN = 32, 16, 16
NOISE, RATE = 0.05, 0.02  # of the weights
GENERATIONS = 150
TEST = np.arange(10**6, 10**6 + 2 * DIRECTIONS * EPISODES)  # seeds of episodes that learning never sees


def split(weights, sizes):
    """Matrices and biases of the two layers of many policies, from rows of weights."""
    out, at = [], 0
    for shape in ((sizes[0], HIDDEN), (1, HIDDEN), (HIDDEN, sizes[1]), (1, sizes[1])):
        out.append(weights[:, at : at + shape[0] * shape[1]].reshape(-1, *shape))
        at += shape[0] * shape[1]
    return out


def episodes(envs, weights, seeds):
    """Returns and successes (policies, episodes) of policies, each in its share of the environments; all have the same seeds."""
    policies, n, sizes = len(weights), envs.num_envs, (envs.single_observation_space.shape[0], envs.single_action_space.shape[0])
    first, one, second, two = split(weights, sizes)
    seen, _ = envs.reset(seed=np.tile(seeds, policies).tolist())
    running, total, success = np.ones(n, dtype=bool), np.zeros(n), np.zeros(n, dtype=bool)
    while running.any():
        hidden = np.tanh(seen.reshape(policies, -1, sizes[0]) @ first + one)
        seen, reward, terminated, truncated, info = envs.step(np.tanh(hidden @ second + two).reshape(n, -1))
        total += np.where(running, reward, 0.0)
        success = np.where(running, info["is_success"] & ~terminated, success) if "is_success" in info else success
        running &= ~(terminated | truncated)
    return total.reshape(policies, -1), success.reshape(policies, -1)


def learn(generations=GENERATIONS, seed=0, report=print):
    """Weights of the policy, and (generation, return, success rate) of tests along the way."""
    random, envs = np.random.default_rng(seed), gymnasium.make_vec(TASK, num_envs=2 * DIRECTIONS * EPISODES)
    inputs, outputs = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    size = (inputs + 1) * HIDDEN + (HIDDEN + 1) * outputs
    weights, mean, square, history = 0.2 * random.normal(size=size), np.zeros(size), np.zeros(size), []
    begun = time.perf_counter()
    for g in range(generations + 1):
        if g % 10 == 0 or g == generations:
            total, success = episodes(envs, weights[None], TEST)
            history.append((g, total.mean(), success.mean()))
            report(f"generation {g:3}: return {total.mean():6.2f}, {success.mean():6.1%} reached, {time.perf_counter() - begun:5.1f} s")
        if g == generations:
            break
        directions = random.normal(size=(DIRECTIONS, size))
        tried = np.concatenate([weights + NOISE * directions, weights - NOISE * directions])
        total, _ = episodes(envs, tried, random.integers(2**31, size=EPISODES))
        rank = np.argsort(np.argsort(total.mean(axis=1))) / (2 * DIRECTIONS - 1)
        slope = (rank[:DIRECTIONS] - rank[DIRECTIONS:]) @ directions / DIRECTIONS
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2  # Adam
        rate = RATE * (1.0 - 0.7 * g / generations)
        weights = weights + rate * mean / (1 - 0.9 ** (g + 1)) / (np.sqrt(square / (1 - 0.99 ** (g + 1))) + 1e-8)
    envs.close()
    return weights, np.array(history)


def show(weights, history, folder):
    """Write the learning curve and an animation of four episodes."""
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(6.0, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.plot(history[:, 0], history[:, 1], color="#22303c", label="return")
    axes.set(xlabel="generation", ylabel="return of an episode")
    other = axes.twinx()
    other.plot(history[:, 0], 100.0 * history[:, 2], color="#c8421a", label="reached")
    other.set(ylabel="goals reached in %", ylim=(0.0, 102.0))
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(folder / "learning.png", dpi=120)
    env = gymnasium.make(TASK, render_mode="rgb_array")
    first, one, second, two = (x[0] for x in split(weights[None], (env.observation_space.shape[0], env.action_space.shape[0])))
    frames = []
    for seed in range(4):
        seen, _ = env.reset(seed=seed)
        for k in range(60):
            if k % 3 == 0:
                frames.append(Image.fromarray(env.render()).quantize(64))
            seen, *_ = env.step(np.tanh(np.tanh(seen @ first + one) @ second + two)[0].astype(np.float32))
    frames[0].save(folder / "reaching.gif", save_all=True, append_images=frames[1:], duration=60, loop=0)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/learn_reaching")
    folder.mkdir(parents=True, exist_ok=True)
    found, curve = learn(int(sys.argv[2]) if len(sys.argv) > 2 else GENERATIONS)
    print(f"{curve[-1, 2]:.1%} of {len(TEST)} goals reached within 5 mm")
    show(found, curve, folder)
    print(f"learning.png and reaching.gif are in {folder}")

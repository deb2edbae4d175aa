// SPDX-License-Identifier: Apache-2.0
/**
 * explore runs a target with changed inputs for some time. An input that reaches new code, or the same code in another order of magnitude,
 * is kept and changed further. It also repeats pieces of inputs, to find readers whose time grows faster than the input, and nests values.
 */
import { FuzzFinding, type FuzzTarget } from "@switchyard/testing/fuzz";
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { inspect } from "node:util";
import type { Counters } from "./counters.ts";
import { createMutator, nestValue } from "./mutate.ts";
import type { Random } from "./random.ts";

export interface ExploreOptions {
  readonly target: FuzzTarget;
  readonly counters: Counters;
  readonly random: Random;
  readonly inputs: readonly Buffer[];
  readonly words: readonly string[];
  readonly budgetMs: number;
  /** Inputs are changed without regard to what they reach, to show that the counters matter. */
  readonly isBlind?: boolean;
  /** Most inputs to try; no limit by default. */
  readonly maxRuns?: number;
  /** The run ends when it has so many. Default: 12. */
  readonly maxFindings?: number;
  /** Called before each input runs. */
  readonly onInput: (input: Buffer) => void;
  readonly onFinding: (finding: Finding) => void;
}

export interface Finding {
  /** The same for inputs that fail in the same place. */
  readonly key: string;
  readonly text: string;
  readonly input: Uint8Array;
}

export interface Explored {
  readonly runs: number;
  readonly counters: number;
  readonly countersFromSeeds: number;
  readonly countersReached: number;
  /** Inputs that together reach all that was reached, the smallest first. */
  readonly corpus: readonly Uint8Array[];
}

/** CPU time that one input may take, in ms: instrumented code is several times slower. */
const slowMs = 1_500;
/** Sizes of inputs with a repeated piece. */
const pumpBytes = { small: 24_000, large: 96_000 };
/** A linear reader takes 4 times as long for the large one, a quadratic one 16 times. Below `leastMs`, times say nothing. */
const pumpLimits = { leastMs: 500, ratio: 9, doubledRatio: 3 };
/** More than the stack has room for, in functions that call themselves for each level of a value. */
const manyLevels = 8_000;
/** Part of the runs that repeat a piece or nest a value. */
const oneOfPumps = 200;
/** Changed inputs have at most so many bytes, or twice as many as the longest one that was given. */
const usualBytes = 4_096;

export async function explore(options: ExploreOptions): Promise<Explored> {
  const { target, counters, random, words, budgetMs, isBlind = false, maxRuns = Infinity, maxFindings = 12 } = options;
  const maxBytes = Math.max(usualBytes, ...options.inputs.map(({ length }) => 2 * length));
  const mutate = createMutator({ random, words: [...words, ...(target.words ?? [])], maxBytes });
  const corpus: Buffer[] = [];
  const known = new Set<string>();
  let runs = 0;
  const end = performance.now() + budgetMs;

  /** Runs an input, and returns the CPU time that it took, in ms. Findings are reported once for each place. */
  async function run(input: Buffer): Promise<number> {
    runs++;
    options.onInput(input);
    counters.reset();
    const before = performance.now();
    let failure: unknown;
    try {
      const running = target.run(input);
      if (running !== undefined) await running;
      refuseChangedPrototypes();
    } catch (error) {
      failure = error ?? new Error("the reader threw nothing");
    }
    const ms = performance.now() - before;
    if (failure !== undefined) await report(input, keyOf(failure), textOf(failure));
    else if (ms > slowMs && input.length <= maxBytes && (await leastCpuMs(input)) > slowMs) {
      await report(input, "slow", `${input.length} bytes take more than ${slowMs} ms of CPU time`);
    }
    return ms;
  }

  async function report(input: Buffer, key: string, text: string): Promise<void> {
    if (known.has(key)) return;
    known.add(key);
    const smallest = key === "slow" ? input : await shrink(input, (failure) => keyOf(failure) === key);
    options.onFinding({ key, text, input: Uint8Array.from(smallest) });
  }

  /** Removes pieces as long as the input still fails. */
  async function shrink(input: Buffer, isSame: (failure: unknown) => boolean): Promise<Buffer> {
    let smallest = input;
    const limit = performance.now() + 3_000;
    for (let size = Math.ceil(input.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < smallest.length && performance.now() < limit;) {
        const shorter = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
        if (await fails(shorter, isSame)) smallest = shorter;
        else at += size;
      }
    }
    return smallest;
  }

  async function fails(input: Buffer, isSame: (failure: unknown) => boolean): Promise<boolean> {
    options.onInput(input);
    try {
      await target.run(input);
      refuseChangedPrototypes();
      return false;
    } catch (failure) {
      return isSame(failure);
    }
  }

  /** The least CPU time of three runs, so that neither compilation nor other processes count. */
  async function leastCpuMs(input: Buffer): Promise<number> {
    let least = Infinity;
    for (let nth = 0; nth < 3; nth++) {
      options.onInput(input);
      const before = process.cpuUsage();
      try {
        await target.run(input);
      } catch {
        // Only the time counts here; run() reports errors.
      }
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, (user + system) / 1_000);
    }
    return least;
  }

  /** Repeats a piece of an input up to two sizes, and compares the times. */
  async function pump(input: Buffer): Promise<void> {
    const start = random.below(input.length);
    const stop = Math.min(input.length, start + 1 + random.below(random.oneIn(2) ? 4 : 64));
    const repeated = (bytes: number): Buffer => {
      const piece = input.subarray(start, stop);
      const times = Math.ceil(bytes / piece.length);
      return Buffer.concat([
        input.subarray(0, stop),
        ...Array.from({ length: times }, () => piece),
        input.subarray(stop),
      ]);
    };
    const large = repeated(pumpBytes.large);
    if ((await run(large)) < pumpLimits.leastMs) return;
    const [smallMs, largeMs] = [await leastCpuMs(repeated(pumpBytes.small)), await leastCpuMs(large)];
    if (largeMs < pumpLimits.leastMs || largeMs < smallMs * pumpLimits.ratio) return;
    // The heap grows once, so that a linear reader can look quadratic between two sizes, but not between the next two.
    const isConfirmed = async () =>
      (await leastCpuMs(repeated(2 * pumpBytes.large))) >= largeMs * pumpLimits.doubledRatio;
    if (largeMs < slowMs && !(await isConfirmed())) return;
    const piece = inspect(input.subarray(start, stop).toString("latin1"));
    await report(
      large,
      "slow",
      `${piece}, repeated: ${smallMs} ms of CPU time become ${largeMs} ms for 4 times as many bytes`,
    );
  }

  for (const input of options.inputs) {
    await run(input);
    if (counters.note() > 0 || corpus.length === 0) corpus.push(input);
  }
  const countersFromSeeds = counters.countSeen();
  for (let nth = 0; performance.now() < end && runs < maxRuns && known.size < maxFindings; nth++) {
    if (nth % 256 === 0) await setImmediate(); // messages and timers
    const input = choose();
    if (!isBlind && input.length > 0 && random.oneIn(oneOfPumps)) {
      if (random.oneIn(2)) await pump(input);
      else await run(nestValue(input, manyLevels, random));
      continue;
    }
    const changed = mutate(input, random.pick(corpus));
    await run(changed);
    if (counters.note() > 0 && !isBlind) corpus.push(changed);
  }
  const countersReached = counters.countSeen();
  return { runs, counters: counters.length, countersFromSeeds, countersReached, corpus: await cover() };

  /** The last input in one of four cases and a recent one in another: they have reached what is new. */
  function choose(): Buffer {
    return random.pick(random.oneIn(2) ? corpus : corpus.slice(random.oneIn(2) ? -1 : -8));
  }

  /** Takes inputs, the smallest first, as long as they reach something that the others do not. */
  async function cover(): Promise<readonly Uint8Array[]> {
    const reached = new Set<number>();
    const needed: Uint8Array[] = [];
    for (const input of corpus.toSorted((one, other) => one.length - other.length)) {
      await run(input);
      const size = reached.size;
      for (const feature of counters.features()) reached.add(feature);
      if (reached.size > size) needed.push(Uint8Array.from(input));
    }
    return needed;
  }
}

/** A key such as `__proto__` that is assigned like any other changes all objects. */
function refuseChangedPrototypes(): void {
  for (const prototype of [Object.prototype, Array.prototype] as unknown as readonly Record<string, unknown>[]) {
    const added = Object.keys(prototype);
    if (added.length === 0) continue;
    for (const key of added) Reflect.deleteProperty(prototype, key);
    throw new FuzzFinding("the reader has changed Object.prototype or Array.prototype");
  }
}

/** Name and place of an error. */
function keyOf(failure: unknown): string {
  if (!(failure instanceof Error)) return "no error";
  const place = /\n\s+at (.*)/.exec(failure.stack ?? "")?.[1] ?? "";
  return `${failure.name} ${failure.name === "FuzzFinding" ? failure.message.slice(0, 60) : place}`;
}

function textOf(failure: unknown): string {
  return failure instanceof Error ? (failure.stack ?? failure.message).slice(0, 2_000) : inspect(failure);
}

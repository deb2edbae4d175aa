// SPDX-License-Identifier: Apache-2.0
/**
 * A Recording has the metrics pages of processes over time, as Prometheus would have scraped them each few seconds. replay makes
 * of it what Prometheus has at another interval, for hours if need be.
 * Usage: `const series = replay(await readRecording("failing-node"), { intervalMs: 30_000, untilMs: 3_600_000 });`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Scenario } from "./promql.ts";

/** A value and how many pages had it, one after the other; null for pages that did not have the series. */
export type Run = readonly [value: number | null, count: number];

export interface Recording {
  /** Time between two pages. */
  readonly everyMs: number;
  /** Series with their labels, those of the target included: `switchyard_leading{instance="operator",lease="…"}`. */
  readonly series: Readonly<Record<string, readonly Run[]>>;
}

export interface Replay {
  readonly intervalMs: number;
  readonly untilMs: number;
  /** Offset of the first scrape in the recording; 0 by default. */
  readonly phaseMs?: number;
  /** The part of the recording that repeats until the end; counters go on. Default: its last page stays. */
  readonly repeat?: { readonly fromMs: number; readonly toMs: number };
}

/** Folder of the recordings. */
export const recordings = "e2e/integration/monitoring/testdata";

export async function readRecording(name: string): Promise<Recording> {
  const file = join(findWorkspaceRoot(), recordings, `${name}.json`);
  return withoutComponents(JSON.parse(await readFile(file, "utf8")) as Recording);
}

/** Leaves the SriovOperatorConfig out: no images are set where recordings are made, so it is Degraded from the beginning. */
export function withoutComponents({ everyMs, series }: Recording): Recording {
  const kept = Object.entries(series).filter(([name]) => !name.includes('kind="SriovOperatorConfig"'));
  return { everyMs, series: Object.fromEntries(kept) };
}

/** Returns the values in their order, each once until it changes. */
export function changesOf(runs: readonly Run[]): readonly number[] {
  const values = runs.flatMap(([value]) => (value === null ? [] : [value]));
  return values.filter((value, index) => value !== values[index - 1]);
}

/** Makes a recording of pages: the series of each with their values. */
export function toRecording(pages: readonly ReadonlyMap<string, number>[], everyMs: number): Recording {
  const names = [...new Set(pages.flatMap((page) => [...page.keys()]))].sort();
  const series = names.map((name): [string, Run[]] => {
    const runs: [number | null, number][] = [];
    for (const page of pages) {
      const value = page.get(name) ?? null;
      const last = runs.at(-1);
      if (last?.[0] === value) last[1]++;
      else runs.push([value, 1]);
    }
    return [name, runs];
  });
  return { everyMs, series: Object.fromEntries(series) };
}

/** Returns the series as a Scenario has them. */
export function replay(
  { everyMs, series }: Recording,
  { intervalMs, untilMs, phaseMs = 0, repeat }: Replay,
): Scenario["series"] {
  return Object.fromEntries(
    Object.entries(series).map(([name, runs]) => {
      const values = runs.flatMap(([value, count]) => Array.from({ length: count }, () => value));
      const isCounter = /_(total|bucket|sum|count)(\{|$)/.test(name);
      const at = (ms: number): number | null => {
        const lastMs = (values.length - 1) * everyMs;
        const value = (atMs: number) => values[Math.floor(Math.min(atMs, lastMs) / everyMs)] ?? null;
        if (repeat === undefined || ms < repeat.toMs) return value(ms);
        const lengthMs = repeat.toMs - repeat.fromMs;
        const rounds = Math.floor((ms - repeat.fromMs) / lengthMs);
        const within = value(ms - rounds * lengthMs);
        if (within === null || !isCounter) return within;
        return within + rounds * ((value(repeat.toMs) ?? 0) - (value(repeat.fromMs) ?? 0));
      };
      const samples = Array.from({ length: untilMs / intervalMs + 1 }, (_, index) => at(index * intervalMs + phaseMs));
      return [name, notationOf(samples)];
    }),
  );
}

/** A series that a page lacks ends at once, as in Prometheus. */
function notationOf(samples: readonly (number | null)[]): string {
  return samples
    .map((sample, index) => (sample === null ? ((samples[index - 1] ?? null) === null ? "_" : "stale") : `${sample}`))
    .join(" ");
}

// SPDX-License-Identifier: Apache-2.0
/** recordPages reads the metrics pages of processes again and again, with the labels that Prometheus gives them. */
import { toRecording, type Recording } from "../integration/monitoring/recording.ts";
import { namespace } from "@switchyard/test-cluster";

/** A process that Prometheus scrapes. */
export interface Target {
  readonly job: string;
  readonly port: number;
}

export interface PageRecorder extends AsyncDisposable {
  /** Returns what was recorded since the begin or the last call. */
  take(): Recording;
}

const everyMs = 5_000;

/** `metrics` are the names of the series that are kept. */
export function recordPages(targets: readonly Target[], metrics: ReadonlySet<string>): PageRecorder {
  let pages: ReadonlyMap<string, number>[] = [];
  let reading = Promise.resolve();
  const timer = setInterval(() => {
    reading = reading.then(async () => {
      const found = await Promise.all(targets.map((target) => readPage(target, metrics)));
      pages.push(new Map(found.flat()));
    });
  }, everyMs);
  return {
    take() {
      const taken = pages;
      pages = [];
      return toRecording(taken, everyMs);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await reading;
    },
  };
}

/** Returns the series of a process; none if it does not answer. */
async function readPage({ job, port }: Target, metrics: ReadonlySet<string>): Promise<readonly [string, number][]> {
  const page = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(4_000) }).then(
    (response) => response.text(),
    () => "",
  );
  return page.split("\n").flatMap((line): readonly [string, number][] => {
    const [, name = "", labels = "", value = ""] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!metrics.has(name)) return [];
    const target = `instance="${job}",job="${job}",namespace="${namespace}"`;
    return [[`${name}{${[target, labels].filter(Boolean).join(",")}}`, Number(value)]];
  });
}

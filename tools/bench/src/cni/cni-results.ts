// SPDX-License-Identifier: Apache-2.0
/** The results of the cni benchmark, from which its goals and its report are made. */

/** One program that was started many times. */
export interface CniSeries {
  readonly title: string;
  /** Durations of the runs. For an ADD, the time that zedrouter took is subtracted. */
  readonly ownMs: readonly number[];
  readonly peakMb?: number;
}

/** What the goals are compared with. */
export interface CniResults {
  /** The first series is the baseline. */
  readonly series: readonly CniSeries[];
  /** Many ADDs started at the same time; seconds until the last one has ended. */
  readonly atOnce: {
    readonly count: number;
    readonly failed: number;
    readonly addSeconds: number;
    readonly nodeSeconds: number;
  };
}

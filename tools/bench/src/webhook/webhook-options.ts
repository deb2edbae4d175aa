// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run bench -- webhook`. */
import { BenchError } from "../harness/run-control.ts";
import { commonHelp, parseCount, parseFlags } from "../harness/bench-flags.ts";
import type { BenchOptions } from "../harness/bench.ts";
import { webhookProfileNames, type WebhookProfileName } from "./webhook-profile.ts";

/** The options of the benchmark. */
export interface WebhookOptions extends BenchOptions {
  readonly nodes: number;
  /** Number of pods in the cluster. A fifth of them have VFs. */
  readonly pods: number;
  /** The profiles, which are measured one after the other, each in a new cluster. */
  readonly profiles: readonly WebhookProfileName[];
  /** Number of reviews of each load. */
  readonly reviews: number;
  /** How often each load is repeated. */
  readonly rounds: number;
  /** Path of a directory for CPU profiles of the webhook. */
  readonly cpuProf: string | undefined;
}

export const webhookHelp = `npm run bench -- webhook [options]

Measures the admission webhook with a real API server and the objects of a fleet. The baseline is a server that admits
every review without reading it.
  --nodes N            number of nodes (default 1000)
  --pods N             number of pods, a fifth of them with VFs (default 10000)
  --profile NAME       pf6: 6 PFs without VFs; vf256: 2 PFs with 128 VFs each; vf256-in-pods: like vf256, with some VFs
                       in pods, different ones on each node. Can be repeated; the default is all profiles
  --reviews N          number of reviews of each load (default 300)
  --rounds N           how often each load is repeated (default 3)
  --cpu-prof DIR       write CPU profiles of the webhook to DIR
${commonHelp}`;

/** Parses the command line; "help" for --help. Throws BenchError `usage`. */
export function parseWebhookOptions(args: readonly string[]): WebhookOptions | "help" {
  const values = parseFlags(args, {
    nodes: { type: "string", default: "1000" },
    pods: { type: "string", default: "10000" },
    profile: { type: "string", multiple: true },
    reviews: { type: "string", default: "300" },
    rounds: { type: "string", default: "3" },
    "cpu-prof": { type: "string" },
  });
  if (values.help === true) return "help";
  return {
    nodes: parseCount("--nodes", values.nodes, { minimum: 1, maximum: 65_536 }),
    pods: parseCount("--pods", values.pods, { minimum: 0, maximum: 200_000 }),
    profiles: (values.profile ?? webhookProfileNames).map(parseProfile),
    reviews: parseCount("--reviews", values.reviews, { minimum: 8, maximum: 100_000 }),
    rounds: parseCount("--rounds", values.rounds, { minimum: 1, maximum: 20 }),
    json: values.json,
    cpuProf: values["cpu-prof"],
    check: values.check === true,
  };
}

function parseProfile(text: string): WebhookProfileName {
  const profile = webhookProfileNames.find((name) => name === text);
  if (profile !== undefined) return profile;
  throw new BenchError("usage", `--profile must be one of ${webhookProfileNames.join(", ")}, not "${text}"`);
}

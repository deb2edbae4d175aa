// SPDX-License-Identifier: Apache-2.0
/**
 * The command line of `npm run bench -- webhook`.
 * Usage: `parseWebhookOptions(["--profile", "vf256", "--check"])`
 */
import { parseArgs } from "node:util";
import { BenchError } from "../harness/bench-error.ts";
import { parseCount } from "../harness/parse-count.ts";
import { webhookProfileNames, type WebhookProfileName } from "./webhook-profile.ts";

export interface WebhookOptions {
  readonly nodes: number;
  /** In the cluster, a fifth of them with VFs. */
  readonly pods: number;
  /** Measured one after the other, each in a cluster of its own. */
  readonly profiles: readonly WebhookProfileName[];
  /** Of each load. */
  readonly reviews: number;
  /** How often each load is repeated. */
  readonly rounds: number;
  /** Also writes the figures there. */
  readonly json: string | undefined;
  /** Directory for CPU profiles of the webhook. */
  readonly cpuProf: string | undefined;
  readonly check: boolean;
}

export const webhookHelp = `npm run bench -- webhook [options]

The admission webhook beside a real API server with the objects of a fleet; a server that answers without
looking at the review, in the same run.
  --nodes N         1000
  --pods N          a fifth of them with VFs: 10000
  --profile NAME    pf6: 6 PFs without VFs; vf256: 2 PFs with 128 VFs each; vf256-in-pods: of these VFs pods have
                    some, others on each node; repeatable, all by default
  --reviews N       of each load: 300
  --rounds N        how often each load is repeated: 3
  --json FILE       write the figures there, too
  --cpu-prof DIR    write CPU profiles of the webhook there
  --check           exit 1 when a goal of performance.md is missed
`;

/** "help" where that was asked for. Throws BenchError `usage`. */
export function parseWebhookOptions(args: readonly string[]): WebhookOptions | "help" {
  const values = parse(args);
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
  throw new BenchError("usage", `--profile ${text}: not one of ${webhookProfileNames.join(", ")}`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        nodes: { type: "string", default: "1000" },
        pods: { type: "string", default: "10000" },
        profile: { type: "string", multiple: true },
        reviews: { type: "string", default: "300" },
        rounds: { type: "string", default: "3" },
        json: { type: "string" },
        "cpu-prof": { type: "string" },
        check: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (cause) {
    throw new BenchError("usage", cause instanceof Error ? cause.message : String(cause), cause);
  }
}

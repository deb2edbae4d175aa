// SPDX-License-Identifier: Apache-2.0
/** All scenarios, in the order of the help. */
import type { OptionSpecs } from "./harness/options.ts";
import type { ScenarioCommand } from "./harness/scenario.ts";
import { afxdp } from "./scenarios/afxdp.ts";
import { bpfman } from "./scenarios/bpfman.ts";
import { cni } from "./scenarios/cni.ts";
import { daemon } from "./scenarios/daemon/daemon.ts";
import { diagnosis } from "./scenarios/diagnosis.ts";
import { fleet } from "./scenarios/fleet.ts";
import { ovnOffload } from "./scenarios/ovn-offload.ts";
import { ovsdb } from "./scenarios/ovsdb.ts";
import { webhook } from "./scenarios/webhook.ts";

/** A scenario, whatever its figures are. */
type AnyScenario = ScenarioCommand & { readonly name: string; readonly summary: string; readonly options: OptionSpecs };

export const scenarios: readonly AnyScenario[] = [
  fleet,
  afxdp,
  bpfman,
  daemon,
  cni,
  webhook,
  ovsdb,
  ovnOffload,
  diagnosis,
];

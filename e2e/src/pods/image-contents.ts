// SPDX-License-Identifier: Apache-2.0
/**
 * switchyardImages says what the containers of a test cluster do: the operator and its commands, and config daemons on
 * fake kernels, are real programs.
 * Usage: `runPods({ ...place, contentOf: switchyardImages({ operator: main, kernelSocketOf }) })`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import type { Container, Pod } from "./container-process.ts";
import type { ImageContent } from "./run-pods.ts";

/** The programs. */
export interface SwitchyardPrograms {
  /** Path of the operator's main.js. */
  readonly operator: string;
  /** Path of the socket of a node's fake kernel. Without it, config daemons are stand-ins. */
  readonly kernelSocketOf?: (node: string) => string;
  /** Images that cannot be pulled, by a part of their reference. */
  readonly missing?: readonly string[];
}

/** Returns the content of an image by the name of its repository, in any registry. */
export function switchyardImages(programs: SwitchyardPrograms): (container: Container, pod: Pod) => ImageContent {
  const { operator, kernelSocketOf, missing = [] } = programs;
  return ({ image }, { spec: { nodeName = "" } }) => {
    if (missing.some((part) => image.includes(part))) return "missing";
    const name = /([^/@:]+)(?::[^/@]+)?(?:@.*)?$/.exec(image)?.[1];
    if (name === "switchyard-operator") return { command: [process.execPath, operator] };
    if (name === "switchyard-config-daemon" && kernelSocketOf !== undefined) {
      const script = join(findWorkspaceRoot(), "apps/config-daemon/src/testing/fake-node.ts");
      return { command: [process.execPath, script], variables: { KERNEL_SOCKET: kernelSocketOf(nodeName) } };
    }
    return "stand-in";
  };
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Init containers that put CNI plugins onto the node (cnis.md 1.4, 2.3, 7). The images are not ours, and each wants to be
 * started in its own way.
 */
import type { ComponentImageName, ComponentSettings } from "../component-settings.ts";
import { requests } from "../objects/pod-parts.ts";
import type { Container, Volume } from "../objects/pod-template.ts";

interface Installer {
  readonly name: string;
  readonly image: ComponentImageName;
  readonly start: Pick<Container, "command" | "args">;
}

/** The node's directory of CNI plugins in the containers: where the entry points of these images look for it. */
const target = "/host/opt/cni/bin";

const copyAndEnd = { args: ["--no-sleep"] };

const installers: readonly Installer[] = [
  { name: "sriov-cni", image: "sriovCni", start: copyAndEnd },
  { name: "sriov-infiniband-cni", image: "ibSriovCni", start: copyAndEnd },
  { name: "ovs-cni", image: "ovsCni", start: copy(["/ovs", "/ovs-mirror-producer", "/ovs-mirror-consumer"]) },
  { name: "rdma-cni", image: "rdmaCni", start: copyAndEnd },
  // Its entry point can only copy and then sleep for ever.
  { name: "accelerated-bridge-cni", image: "acceleratedBridgeCni", start: copy(["/usr/bin/accelerated-bridge"]) },
];

/** Of the plugins whose images are given. */
export function cniInstallers({ images }: ComponentSettings): readonly Container[] {
  return installers.flatMap(({ name, image: key, start }) => {
    const image = images[key];
    if (image === undefined) return [];
    return [
      {
        ...{ name, image, ...start },
        securityContext: { privileged: true },
        resources: requests("10m", "10Mi"),
        volumeMounts: [
          { name: "cnibin", mountPath: target },
          { name: "os-release", mountPath: "/host/etc/os-release", readOnly: true }, // sriov-cni has builds for some
        ],
      },
    ];
  });
}

export function cniVolumes({ cniBinPath }: ComponentSettings): readonly Volume[] {
  return [
    { name: "cnibin", hostPath: { path: cniBinPath, type: "DirectoryOrCreate" } },
    { name: "os-release", hostPath: { path: "/etc/os-release", type: "File" } },
  ];
}

/** -f replaces the plugin by another file of its name, also while the old one runs. */
function copy(files: readonly string[]): Pick<Container, "command"> {
  return { command: ["cp", "-f", ...files, `${target}/`] };
}

// SPDX-License-Identifier: Apache-2.0
/**
 * cniInstallers returns the init containers that install CNI plugins on the node (cnis.md 1.4, 2.3, 7). They use
 * third-party images, each with its own command.
 */
import type { ComponentImageName, ComponentSettings } from "../component-settings.ts";
import { requests } from "../objects/pod-parts.ts";
import type { Container, Volume } from "../objects/pod-template.ts";

interface Installer {
  readonly name: string;
  readonly image: ComponentImageName;
  readonly start: Pick<Container, "command" | "args">;
}

/** Mount path of the node's CNI plugin directory. The entry points of these images expect it there. */
const target = "/host/opt/cni/bin";

const copyAndExit = { args: ["--no-sleep"] };

const installers: readonly Installer[] = [
  { name: "sriov-cni", image: "sriovCni", start: copyAndExit },
  { name: "sriov-infiniband-cni", image: "ibSriovCni", start: copyAndExit },
  { name: "ovs-cni", image: "ovsCni", start: copy(["/ovs", "/ovs-mirror-producer", "/ovs-mirror-consumer"]) },
  { name: "rdma-cni", image: "rdmaCni", start: copyAndExit },
  // Its entry point sleeps forever after copying.
  { name: "accelerated-bridge-cni", image: "acceleratedBridgeCni", start: copy(["/usr/bin/accelerated-bridge"]) },
];

/** Returns the containers for the plugins whose images are set. */
export function cniInstallers({ images }: ComponentSettings): readonly Container[] {
  return installers.flatMap(({ name, image: key, start }) => {
    const image = images[key];
    if (image === undefined) return [];
    return [
      {
        name,
        image,
        ...start,
        securityContext: { privileged: true },
        resources: requests("10m", "10Mi"),
        volumeMounts: [
          { name: "cnibin", mountPath: target },
          { name: "os-release", mountPath: "/host/etc/os-release", readOnly: true }, // sriov-cni selects a build by it
        ],
      },
    ];
  });
}

/** Returns the volumes that the containers mount. */
export function cniVolumes({ cniBinPath }: ComponentSettings): readonly Volume[] {
  return [
    { name: "cnibin", hostPath: { path: cniBinPath, type: "DirectoryOrCreate" } },
    { name: "os-release", hostPath: { path: "/etc/os-release", type: "File" } },
  ];
}

/** -f replaces the file instead of overwriting it, which works while the old plugin is running. */
function copy(files: readonly string[]): Pick<Container, "command"> {
  return { command: ["cp", "-f", ...files, `${target}/`] };
}

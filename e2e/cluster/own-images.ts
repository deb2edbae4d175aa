// SPDX-License-Identifier: Apache-2.0
/**
 * pushOwnImages builds Switchyard's images from this checkout and pushes them to the registry, and makes a second version of them.
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { registryName } from "./kube-cluster.ts";
import type { Registry } from "./registry.ts";
import type { ThirdPartyImages } from "./third-party-images.ts";

/** Apps with an image, with its key in the chart's values. */
const keys = {
  operator: "operator",
  "config-daemon": "sriovConfigDaemon",
  "device-plugin-config": "devicePluginConfig",
  webhook: "webhook",
  "afxdp-device-plugin": "afxdpDevicePlugin",
} as const;

type App = keyof typeof keys;

/** App -> digest of its image. */
export type OwnImages<Name extends App = SriovApp> = Readonly<Record<Name, string>>;

/** The apps of an installation for SR-IOV, and for AF_XDP alone. */
export const sriovApps = ["operator", "config-daemon", "device-plugin-config", "webhook"] as const;
export const afxdpApps = ["operator", "config-daemon", "afxdp-device-plugin"] as const;
type SriovApp = (typeof sriovApps)[number];

/** Repositories of the default images. The guest gets images of all registries from the local one. */
const prefix = "switchyard";

/** Needs root and buildah, as `npm run images`. */
export async function pushOwnImages<Name extends App>(
  registry: Registry,
  apps: readonly Name[],
): Promise<OwnImages<Name>> {
  const root = findWorkspaceRoot();
  const to = `localhost:${registry.port}/${prefix}`;
  const output = join(registry.directory, "own-images");
  const args = [...apps, "--arch", "amd64", "--output", output, "--push", to];
  const tool = [join(root, "tools/images/src/main.ts"), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, tool, { cwd: root, maxBuffer: 1 << 24 });
  return digestsOf(apps, (app) => {
    const digest = new RegExp(`^${to}/switchyard-${app}@(sha256:\\w+)$`, "m").exec(stdout)?.[1];
    if (digest === undefined)
      throw new Error(`npm run images -- ${args.join(" ")} printed no reference of ${app}:\n${stdout}`);
    return digest;
  });
}

/** Pushes the same programs as other images, and returns their digests: what a new version is for Kubernetes. */
export async function pushNextVersion(registry: Registry, images: OwnImages): Promise<OwnImages> {
  return digestsOf(sriovApps, (app) => {
    const repository = `${prefix}/switchyard-${app}`;
    return registry.label(`${repository}@${images[app]}`, `${repository}:next`);
  });
}

/** Returns the values of the chart. Only digests of own images are given, so the references are the chart's defaults. */
export function imageValues(
  own: Partial<OwnImages<App>>,
  { sriovCni, devicePlugin, resourcesInjector }: ThirdPartyImages,
) {
  return {
    ...Object.fromEntries(appsOf(own).map((app) => [keys[app], { digest: own[app] }])),
    sriovDevicePlugin: `${registryName}/${devicePlugin}`,
    sriovCni: `${registryName}/${sriovCni}`,
    resourcesInjector: `${registryName}/${resourcesInjector}`,
    // The plugin for InfiniBand is not available as a Go module. The installation needs an image for it; nothing uses the plugin.
    ibSriovCni: `${registryName}/${sriovCni}`,
    acceleratedBridgeCni: "",
    ovsCni: "",
    rdmaCni: "",
  };
}

async function digestsOf<Name extends App>(
  apps: readonly Name[],
  digestOf: (app: Name) => string | Promise<string>,
): Promise<OwnImages<Name>> {
  const entries = await Promise.all(apps.map(async (app) => [app, await digestOf(app)] as const));
  return Object.fromEntries(entries) as OwnImages<Name>;
}

function appsOf(images: Partial<OwnImages<App>>): readonly App[] {
  return Object.keys(images).filter((name): name is App => name in keys);
}

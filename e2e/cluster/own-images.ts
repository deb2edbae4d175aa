// SPDX-License-Identifier: Apache-2.0
/**
 * pushOwnImages builds Switchyard's images from this checkout and pushes them to the registry, and makes a second version of them.
 * Usage: `const values = imageValues(await pushOwnImages(registry), thirdParty);`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { registryName } from "./kube-cluster.ts";
import type { Registry } from "./registry.ts";
import type { ThirdPartyImages } from "./third-party-images.ts";

/** The apps of the installation, with the key of their image in the chart's values. */
const apps = {
  operator: "operator",
  "config-daemon": "sriovConfigDaemon",
  "device-plugin-config": "devicePluginConfig",
  webhook: "webhook",
} as const;

type App = keyof typeof apps;
const appNames = Object.keys(apps).filter((name): name is App => name in apps);

/** App -> digest of its image. */
export type OwnImages = Readonly<Record<App, string>>;

/** Repositories of the default images. The guest gets images of all registries from the local one. */
const prefix = "switchyard";

/** Needs root and buildah, as `npm run images`. */
export async function pushOwnImages(registry: Registry): Promise<OwnImages> {
  const root = findWorkspaceRoot();
  const to = `localhost:${registry.port}/${prefix}`;
  const output = join(registry.directory, "own-images");
  const args = [...appNames, "--arch", "amd64", "--output", output, "--push", to];
  const tool = [join(root, "tools/images/src/main.ts"), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, tool, { cwd: root, maxBuffer: 1 << 24 });
  return digestsOf((app) => {
    const digest = new RegExp(`^${to}/switchyard-${app}@(sha256:\\w+)$`, "m").exec(stdout)?.[1];
    if (digest === undefined)
      throw new Error(`npm run images -- ${args.join(" ")} printed no reference of ${app}:\n${stdout}`);
    return digest;
  });
}

/** Pushes the same programs as other images, and returns their digests: what a new version is for Kubernetes. */
export async function pushNextVersion(registry: Registry, images: OwnImages): Promise<OwnImages> {
  return digestsOf((app) => {
    const repository = `${prefix}/switchyard-${app}`;
    return registry.label(`${repository}@${images[app]}`, `${repository}:next`);
  });
}

/** Returns the values of the chart. Only digests of own images are given, so the references are the chart's defaults. */
export function imageValues(own: OwnImages, { sriovCni, devicePlugin }: ThirdPartyImages) {
  return {
    ...Object.fromEntries(appNames.map((app) => [apps[app], { digest: own[app] }])),
    sriovDevicePlugin: `${registryName}/${devicePlugin}`,
    sriovCni: `${registryName}/${sriovCni}`,
    // The plugin for InfiniBand is not available as a Go module. The installation needs an image for it; nothing uses the plugin.
    ibSriovCni: `${registryName}/${sriovCni}`,
    ...{ ovsCni: "", rdmaCni: "" },
  };
}

async function digestsOf(digestOf: (app: App) => string | Promise<string>): Promise<OwnImages> {
  const { operator, webhook } = { operator: await digestOf("operator"), webhook: await digestOf("webhook") };
  const daemon = await digestOf("config-daemon");
  return { operator, webhook, "config-daemon": daemon, "device-plugin-config": await digestOf("device-plugin-config") };
}

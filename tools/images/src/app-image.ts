// SPDX-License-Identifier: Apache-2.0
/**
 * The images: one for each app that runs in a cluster.
 * Usage: `const { stage, description } = appImages.operator;`
 */
import type { PackageSet } from "./debian/package-sets.ts";

/** Folders of apps/ that have an image. */
export type AppName = keyof typeof appImages;

export interface AppImage {
  /** Stage of the Containerfile. */
  readonly stage: "service" | "frugal-service" | "dra-driver" | "config-daemon" | "eve-bridge";
  /** The label org.opencontainers.image.description. */
  readonly description: string;
  /** Debian packages in a layer between Node and the app. */
  readonly tools?: PackageSet;
  /**
   * npm packages that the bundler leaves out because they contain machine code, and those that have their licences. "ARCH" is
   * replaced by npm's name.
   */
  readonly nativePackages?: readonly string[];
  /** With the compiled code of what the app loads at its start, for the architecture of the machine that builds the image. */
  readonly compileCache?: boolean;
}

export const architectures: Readonly<Record<Architecture, ArchitectureNames>> = {
  amd64: { npm: "x64", multiarch: "x86_64-linux-gnu" },
  arm64: { npm: "arm64", multiarch: "aarch64-linux-gnu" },
};

/** All architectures. */
export const architectureNames = ["amd64", "arm64"] as const satisfies readonly Architecture[];

/**
 * The processor architectures of the images, by their names in OCI images and Debian.
 * Name in OCI images and Debian.
 */
export type Architecture = "amd64" | "arm64";

interface ArchitectureNames {
  /** Name in Node and in npm packages. */
  readonly npm: string;
  /** Directory of libraries in Debian, and prefix of the programs of binutils. */
  readonly multiarch: "x86_64-linux-gnu" | "aarch64-linux-gnu";
}

export const appImages = {
  operator: {
    stage: "service",
    description: "Cluster controllers of Switchyard: node states, networks, components, drains",
  },
  webhook: {
    stage: "service",
    description: "Admission webhook of Switchyard: defaults, rules and warnings",
  },
  "ovn-offload": {
    stage: "frugal-service",
    description: "Runs OVN of hosts on their SmartNICs, for Switchyard",
  },
  "config-daemon": {
    stage: "config-daemon",
    description: "Node agent of Switchyard: configures NICs, virtual functions and bridges",
    tools: "config-daemon",
    compileCache: true,
    nativePackages: ["koffi", "@koromix/koffi-linux-ARCH"],
  },
  "device-plugin-config": {
    stage: "frugal-service",
    description: "Configures the SR-IOV device plugin of a node for Switchyard",
  },
  "afxdp-device-plugin": {
    stage: "frugal-service",
    description: "Makes the AF_XDP devices of a node available to pods, for Switchyard",
    nativePackages: ["koffi", "@koromix/koffi-linux-ARCH"],
  },
  "dra-driver": {
    stage: "dra-driver",
    tools: "dra-driver",
    description: "Gives the virtual functions of a node to pods by ResourceClaims, for Switchyard",
    nativePackages: ["koffi", "@koromix/koffi-linux-ARCH"],
  },
  "eve-bridge": {
    stage: "eve-bridge",
    tools: "eve-bridge",
    description: "Installs the CNI plugin eve-bridge, which connects pods to network instances of EVE",
  },
} as const satisfies Readonly<Record<string, AppImage>>;

export function isAppName(text: string): text is AppName {
  return Object.hasOwn(appImages, text);
}

/** Returns the image's name in a registry, after the prefix. */
export function imageName(app: AppName): string {
  return `switchyard-${app}`;
}

export function isArchitecture(text: string): text is Architecture {
  return Object.hasOwn(architectures, text);
}

// SPDX-License-Identifier: Apache-2.0
export { build, type BuiltImage, type PlatformImage } from "./build.ts";

# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by packaging/build: builds the packages for Arch Linux from packaging/arch. Build dependencies in PKGBUILD are not checked, as
# Debian's makepkg does not know the installed packages. The package is not checked by namcap, which Debian does not have.

tools="gcc libarchive-tools makepkg pacman-package-manager zstd"
format_files='\./\.(BUILDINFO|INSTALL|MTREE|PKGINFO)'

build_packages() {
        make_top
        # Makes a copy of Arch's wrapper for meson.
        mkdir -p "$scratch/written/usr/local/bin"
        cat >"$scratch/written/usr/local/bin/arch-meson" <<'END'
#!/bin/sh
exec meson setup --prefix /usr --libdir lib --libexecdir lib --sbindir bin --buildtype plain --auto-features enabled --wrap-mode nodownload "$@"
END
        chmod 755 "$scratch/written/usr/local/bin/arch-meson"
        # makepkg refuses to run as root.
        inside "chown -R nobody /build && cd /build && export PATH=/usr/local/bin:\$PATH HOME=/build &&
                CFLAGS='-O2 -g' PKGEXT=.pkg.tar.zst PACKAGER='The drivekeep developers <maintainers@drivekeep.example>' \
                setpriv --reuid=nobody --clear-groups makepkg --nodeps ${nocheck:+--nocheck}" "the package could not be built"
        cat "$scratch/written/build/pkg/drivekeep/.PKGINFO"
        compare_files /build/src/build 'for p in /build/drivekeep-*.pkg.tar.zst; do bsdtar -xf "$p" || exit; done'
        results=("$top"/drivekeep-*.pkg.tar.zst)
}

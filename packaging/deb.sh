# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by packaging/build: builds the packages for Debian from packaging/debian.

case $suite in
bookworm) release=~deb12u1 ;;
trixie) release=~deb13u1 ;;
forky) release=~deb14u1 ;;
sid) release= ;;
*) complain "there is no package for the suite '$suite'; bookworm, trixie, forky and sid have one" ;;
esac

tools="build-essential ccache debhelper lintian"
format_files='\./usr/share/doc/(cockpit-)?drivekeep(-tune)?/(copyright|changelog\.Debian)|\./usr/share/python3/runtime\.d/drivekeep-tune\.rtupdate'

# Makes the source tree: the upstream release, with debian/ added.
make_debian_source() { # DIRECTORY
        local tree=$1/drivekeep-$version date
        make_source "$1/drivekeep_$version.orig.tar.xz"
        cp -r packaging/debian "$tree/debian"
        if [ -n "$release" ]; then
                date=$(date -d "$(sed -n 's/^ -- .*  //p' "$tree/debian/changelog" | head -1)" +%s)
                {
                        sed -n "1s/(\(.*\)) [a-z]*/(\1$release) $suite/p" "$tree/debian/changelog"
                        printf '\n  * Rebuild for %s.\n\n' "$suite"
                        printf '%s  %s\n\n' "$(sed -n 's/^\( -- .*\)  .*/\1/p' "$tree/debian/changelog" | head -1)" "$(LC_ALL=C date -uRd "@$((date + 1))")"
                        cat "$tree/debian/changelog"
                } >"$1/changelog" && mv "$1/changelog" "$tree/debian/changelog"
        fi
}

build_in() { # DIRECTORY INITIAL-SHELL-COMMAND
        make_debian_source "$scratch/written$1"
        inside "$2; cd $1/drivekeep-$version && DEB_BUILD_OPTIONS='${nocheck:+nocheck}' dpkg-buildpackage -us -uc" \
                "the package for $suite could not be built"
}

# Prints a hash of everything on which reproducible packages depend: the installed tools, and the files that call the tools. The program's
# own files do not use the time of the build, see tests/unit/structure.
layout() {
        {
                cat "$root/var/lib/dpkg/status"
                git -c safe.directory="$PWD" ls-files -z packaging/build packaging/deb.sh packaging/suite.sh packaging/debian \
                        '*meson.build' meson_options.txt man/settings.c conf/install-once units/make-user | xargs -0 sha256sum
        } | sha256sum
}

build_packages() {
        local first=$scratch/written/build package
        layout >"$scratch/layout"
        build_in /build 'export CCACHE_DIR=/cache CCACHE_MAXSIZE=200M'
        if [ -n "$twice" ] && [ -n "$cache" ] && cmp -s "$scratch/layout" "$cache/same"; then
                echo "Two builds with the same tools and options were identical before."
        elif [ -n "$twice" ]; then
                build_in /srv/another/place 'export CCACHE_DISABLE=1; umask 002; export TZ=Asia/Kathmandu LC_ALL=C'
                for package in "$first"/*.deb "$first"/*.tar.xz "$first"/*.dsc; do
                        cmp "$package" "$scratch/written/srv/another/place/${package##*/}" || complain "two builds of ${package##*/} differ"
                done
                [ -z "$cache" ] || cp "$scratch/layout" "$cache/same"
        fi
        # lintian would report that no bug is closed: the package is new, and Debian has no bug that requests it.
        inside 'cd /build && lintian --pedantic --display-info --fail-on error,warning --allow-root \
                --suppress-tags initial-upload-closes-no-bugs *.changes' \
                "lintian of $suite has complaints"
        cat "$scratch/log"
        compare_files "/build/drivekeep-$version/obj-*" 'for p in /build/drivekeep_*.deb /build/drivekeep-tune_*.deb /build/cockpit-drivekeep_*.deb; do dpkg-deb -x "$p" . || exit; done'
        mapfile -t results < <(find "$first" -maxdepth 1 -type f)
}

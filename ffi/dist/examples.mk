# Builds the examples against the library of this archive. What each shows is said in docs/guide.
LIB := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))../lib)
export PKG_CONFIG_PATH := $(LIB)/pkgconfig:$(PKG_CONFIG_PATH)
FLAGS := $(shell pkg-config --cflags --libs trunkline) -Wl,-rpath,$(LIB) -pthread

.PHONY: all clean
all: $(patsubst %.c,%,$(wildcard *.c)) $(patsubst %.cpp,%,$(wildcard *.cpp))
%: %.c
	$(CC) -std=gnu99 -Wall $< -o $@ $(FLAGS)
%: %.cpp
	$(CXX) -std=c++20 -Wall $< -o $@ $(FLAGS)
clean:
	rm -f $(patsubst %.c,%,$(wildcard *.c)) $(patsubst %.cpp,%,$(wildcard *.cpp))
